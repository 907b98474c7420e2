"""English running text around a number: (shape, text) by type; `@@` is the number, `@word@` a filler."""

INN10 = (
    ("chat", "Can you check whether the Russian supplier with INN @@ is still trading?"),
    ("chat", "our vendor form wants a tax id, theirs is INN @@, does that look right for a company in @city@?"),
    (
        "email",
        "Subject: Vendor onboarding\n\nHi team,\n@org@ sent their details: INN @@, KPP @kpp@.\nPlease add them before @date@.",
    ),
    ("json", '{"vendor": "@org@", "country": "RU", "taxId": {"type": "INN", "value": "@@"}}'),
    ("json", '{"inn":"@@","kpp":"@kpp@","source":"crm-export"}'),
    ("csv", "vendor,inn,kpp\n@org@,@@,@kpp@"),
    ("log", '2025-05-06T10:02:11Z INFO kyb: lookup ok inn=@@ name="@org@"'),
    ("table", "| Vendor | INN | Due |\n|---|---|---|\n| @org@ | @@ | @sum@ |"),
    ("code", 'client.find_counterparty(inn="@@", kpp="@kpp@")'),
    ("ticket", "@ref@: the invoice PDF prints the wrong INN. Expected @@ for @org@."),
    ("url", "GET /api/v2/companies?inn=@@&fields=name,status HTTP/1.1"),
    ("yaml", 'vendor:\n  name: @org@\n  inn: "@@"\n  kpp: "@kpp@"'),
)

INN12 = (
    ("chat", "I'm filing for a sole trader in Russia, their INN is @@. Which form do I need?"),
    ("json", '{"person": {"citizenship": "RU", "inn": "@@"}}'),
    ("csv", "employee_no,inn,gross\n0417,@@,@sum@"),
    ("log", "10:14:55 WARN payroll: tax certificate missing, inn=@@"),
    (
        "email",
        "Subject: contractor paperwork\n\nThe contractor's taxpayer number (INN) is @@. The contract starts on @date@.",
    ),
    ("code", "payee = Payee(kind='individual', inn='@@')"),
    ("ticket", "@ref@: contractor says the INN @@ is rejected by the portal as too long."),
)

SNILS = (
    ("chat", "My SNILS is @@ and the pension site says it does not exist. Any idea why?"),
    ("email", "Subject: HR documents\n\nAttached is the scan; the insurance number (SNILS) is @@.\nRegards, new hire"),
    ("json", '{"patient": {"snils": "@@", "ward": "therapy"}}'),
    ("csv", "snils,years,city\n@@,11,@city@"),
    ("log", "2025-02-03T08:15:20Z ERROR pension-fund: bad response for snils=@@ retry=2"),
    ("code", 'row = {"snils": "@@", "source": "import"}'),
    ("ticket", "@ref@: the form refuses SNILS @@ when pasted from the PDF."),
    ("table", "| SNILS | Days |\n|---|---|\n| @@ | 30 |"),
)

OGRN = (
    ("chat", "Who is the registered director of the company with OGRN @@?"),
    ("json", '{"company": {"name": "@org@", "ogrn": "@@"}}'),
    ("log", "INFO registry: extract downloaded ogrn=@@ pages=7"),
    ("email", "Subject: due diligence\n\nPlease pull the registry extract for @org@, OGRN @@."),
    ("csv", "name,ogrn\n@org@,@@"),
)

OGRNIP = (
    ("chat", "The entrepreneur's registration number is OGRNIP @@, are they still active?"),
    ("json", '{"type": "sole_trader", "ogrnip": "@@"}'),
    ("log", "WARN registry: record closed ogrnip=@@"),
    ("email", "Subject: sole trader agreement\n\nPut this in the header: OGRNIP @@, @city@."),
)

PAN = (
    ("chat", "my card number is @@ and I was charged twice, please help"),
    ("chat", "Hi! I can't check out. I tried my Visa @@ and then the debit one, both declined."),
    ("chat", "book the hotel with this card: @@, same name as last time"),
    ("chat", "is @@ a valid card number? the site keeps saying it's wrong"),
    (
        "email",
        "Subject: Refund for order @ref@\n\nHello,\nplease refund @sum@ to card @@.\nBought on @date@ in @city@.",
    ),
    ("email", "Dear support, I was asked to send the payment card so here it is: @@. Please confirm."),
    ("log", "2025-04-01T12:00:03Z DEBUG payments authorize card=@@ amount=@sum@ result=declined"),
    ("log", "[pid 812] POST /charge body: card_number=@@&currency=EUR"),
    ("json", '{"event": "charge.failed", "card": {"number": "@@", "brand": "unknown"}, "amount": "@sum@"}'),
    ("json", '{"messages":[{"role":"user","content":"charge my card @@ for the annual plan"}]}'),
    ("csv", "date,card_number,amount\n@date@,@@,@sum@"),
    ("table", "| Card | Amount | Status |\n|---|---|---|\n| @@ | @sum@ | declined |"),
    ("form", "Card number: @@\nExpiry: 08/31\nCity: @city@"),
    ("code", 'gateway.charge(card="@@", amount=1250, currency="eur")'),
    ("code", "// TODO remove before release\nconst CARD_NUMBER = '@@';"),
    ("sql", "INSERT INTO payments (card_number, amount) VALUES ('@@', 1250);"),
    ("xml", "<Payment><CardNumber>@@</CardNumber><Amount>1250</Amount></Payment>"),
    ("ticket", "@ref@ Customer pasted a full card (@@) into the chat, please scrub the transcript."),
    ("doc", "On @date@ the cardholder reported that the card ending the statement, @@, had been used in @city@."),
    ("yaml", 'fixtures:\n  - card_number: "@@"\n    expect: declined'),
    ("url", "https://shop.example/pay?card=@@&amount=1250"),
    ("markdown", "**Steps**\n1. Open checkout\n2. Enter card `@@`\n3. See error"),
)

IBAN = (
    ("chat", "Can you wire the deposit to IBAN @@ today?"),
    ("chat", "what bank is @@? it's on the landlord's contract"),
    ("email", "Subject: Invoice @ref@\n\nPlease note our new bank details.\nIBAN: @@\nAmount: EUR @sum@"),
    ("json", '{"beneficiary": "@org@", "iban": "@@", "currency": "EUR"}'),
    ("csv", "beneficiary,iban,amount\n@org@,@@,@sum@"),
    ("log", "INFO sepa: credit transfer rejected iban=@@ reason=AC04"),
    ("xml", "<CdtrAcct><Id><IBAN>@@</IBAN></Id></CdtrAcct>"),
    ("code", "transfer = Transfer(iban='@@', amount=Decimal('1250.00'))"),
    ("doc", "The deposit shall be paid into the account @@ no later than @date@."),
    ("form", "Account holder: @org@\nIBAN: @@\nReference: @ref@"),
    ("table", "| Beneficiary | IBAN |\n|---|---|\n| @org@ | @@ |"),
    ("ticket", "@ref@: payroll export has a space in the middle of IBAN @@, the bank rejects the file."),
)

BY_TYPE = {"inn10": INN10, "inn12": INN12, "snils": SNILS, "ogrn": OGRN, "ogrnip": OGRNIP, "pan": PAN, "iban": IBAN}
"""Texts by the kind of number they carry."""
