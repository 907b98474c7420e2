"""The types of data that are looked for, and what others call them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Group = Literal["pii", "phi", "secrets"]

PERSONAL: Mapping[str, str] = {
    "EMAIL_ADDRESS": "an e-mail address",
    "PHONE_NUMBER": "a phone number: international, Russian or of North America",
    "CREDIT_CARD": "a payment card number (Luhn)",
    "IBAN_CODE": "an account number (ISO 13616, mod 97)",
    "IP_ADDRESS": "an IPv4 or IPv6 address",
    "DATE_OF_BIRTH": "a date that is said to be of birth",
    "US_SSN": "a social security number of the USA",
    "US_PASSPORT": "a passport number that is said to be one",
    "BR_CPF": "a CPF of Brazil (check digits)",
    "RU_INN": "a taxpayer number of Russia (check digits)",
    "RU_SNILS": "an insurance number of Russia (check digits)",
    "RU_OGRNIP": "a register number of a sole trader in Russia (check digit)",
    "RU_PASSPORT": "a passport number of Russia that is said to be one",
}

HEALTH: Mapping[str, str] = {
    "US_NPI": "a number of a health provider in the USA (Luhn) that is said to be one",
    "DEA_NUMBER": "a prescriber's number in the USA (check digit) that is said to be one",
    "MEDICAL_RECORD_NUMBER": "a number of a medical record",
    "HEALTH_PLAN_ID": "a number of a health plan or its member, the Russian OMS policy included",
    "ICD10_CODE": "a code of a diagnosis (ICD-10)",
}

SECRETS: Mapping[str, str] = {
    "AWS_ACCESS_KEY": "an access key id of AWS",
    "AWS_SECRET_KEY": "a secret access key of AWS",
    "ANTHROPIC_KEY": "a key of Anthropic",
    "AZURE_CLIENT_SECRET": "a client secret of Microsoft Entra",
    "AZURE_STORAGE_KEY": "an account key or a shared signature of Azure storage",
    "DATABASE_URL": "the password in a connection string",
    "DIGITALOCEAN_TOKEN": "a token of DigitalOcean",
    "GENERIC_SECRET": "a key or token that its name says is one",
    "GITHUB_TOKEN": "a token of GitHub",
    "GITLAB_TOKEN": "a token of GitLab",
    "GOOGLE_API_KEY": "a key of Google",
    "GOOGLE_OAUTH": "a client secret of Google",
    "HUGGING_FACE_TOKEN": "a token of Hugging Face",
    "JWT": "a JSON web token (RFC 7519)",
    "NPM_TOKEN": "a token of npm",
    "OPENAI_KEY": "a key of OpenAI",
    "OPENROUTER_KEY": "a key of OpenRouter",
    "PASSWORD": "what is said to be a password",
    "PRIVATE_KEY": "a private key, PEM or OpenPGP, whole",
    "PYPI_TOKEN": "a token of PyPI",
    "SENDGRID_KEY": "a key of SendGrid",
    "SHOPIFY_TOKEN": "a token of Shopify",
    "SLACK_TOKEN": "a token of Slack",
    "SLACK_WEBHOOK": "a webhook of Slack",
    "STRIPE_KEY": "a key of Stripe",
    "TELEGRAM_TOKEN": "a token of a Telegram bot",
    "TWILIO_KEY": "a key of Twilio",
    "YANDEX_TOKEN": "a key of Yandex Cloud",
}

#: Only named-entity recognition finds these: `detector="presidio"`.
NAMED_ENTITIES: Mapping[str, str] = {
    "PERSON": "a person's name",
    "LOCATION": "a place",
    "NRP": "a nationality, a religious or a political group",
    "US_DRIVER_LICENSE": "a driver's licence of the USA",
    "US_BANK_NUMBER": "a bank account number of the USA",
    "US_ITIN": "a taxpayer number of the USA",
    "UK_NHS": "a number of the NHS",
    "CRYPTO": "an address of a cryptocurrency",
    "MEDICAL_LICENSE": "a medical licence number",
}

TYPES: Mapping[Group, Mapping[str, str]] = {
    "pii": PERSONAL,
    "phi": {**PERSONAL, **HEALTH},
    "secrets": SECRETS,
}

#: A hook's type, or its type and kind -> ours. A type that is not here is none of ours.
HOOKED: Mapping[str, str] = {
    "inn": "RU_INN",
    "snils": "RU_SNILS",
    "ogrnip": "RU_OGRNIP",
    "pan": "CREDIT_CARD",
    "iban": "IBAN_CODE",
    "secret": "GENERIC_SECRET",
    "secret/openai-key": "OPENAI_KEY",
    "secret/anthropic-key": "ANTHROPIC_KEY",
    "secret/openrouter-key": "OPENROUTER_KEY",
    "secret/aws-access-key-id": "AWS_ACCESS_KEY",
    "secret/github-token": "GITHUB_TOKEN",
    "secret/github-fine-grained-token": "GITHUB_TOKEN",
    "secret/gitlab-token": "GITLAB_TOKEN",
    "secret/slack-token": "SLACK_TOKEN",
    "secret/slack-webhook": "SLACK_WEBHOOK",
    "secret/stripe-key": "STRIPE_KEY",
    "secret/google-api-key": "GOOGLE_API_KEY",
    "secret/google-oauth": "GOOGLE_OAUTH",
    "secret/azure-storage-key": "AZURE_STORAGE_KEY",
    "secret/azure-sas-signature": "AZURE_STORAGE_KEY",
    "secret/azure-client-secret": "AZURE_CLIENT_SECRET",
    "secret/huggingface-token": "HUGGING_FACE_TOKEN",
    "secret/npm-token": "NPM_TOKEN",
    "secret/pypi-token": "PYPI_TOKEN",
    "secret/sendgrid-key": "SENDGRID_KEY",
    "secret/twilio-key": "TWILIO_KEY",
    "secret/telegram-bot-token": "TELEGRAM_TOKEN",
    "secret/yandex-cloud-key": "YANDEX_TOKEN",
    "secret/digitalocean-token": "DIGITALOCEAN_TOKEN",
    "secret/shopify-token": "SHOPIFY_TOKEN",
    "secret/jwt": "JWT",
    "secret/private-key": "PRIVATE_KEY",
    "secret/database-url": "DATABASE_URL",
    "secret/password-assignment": "PASSWORD",
}

#: Secrets that only their surroundings make one: never decisive, whoever found them.
BY_CONTEXT = frozenset({"PASSWORD", "GENERIC_SECRET", "DATABASE_URL", "AWS_SECRET_KEY"})
