"""Word lists of the local model, English and Russian: what carries no content, what negates, what means the same, what is
the opposite. Written by hand and short: they cover common wording, not a language."""

from __future__ import annotations

from yb_eval_decision.local.text import stem


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Words that are not looked for in evidence.
STOPWORDS = _words("""
a an the this that these those it its he she they them his her their we us our you your i me my one ones is are was
were be been being am do does did done has have had having will would shall should may might can could must to of in
on at by for from with about into over under between through during before after as than then so if when while where
which who whom whose what why how and or but nor yet also too very just there here such some any each every all both
either neither own same more most other another only once again s t d ll re ve m up down out off because since until
although though however therefore please per via get gets got let lets make makes take takes there's etc yes и в во
на с со к ко у о об от до по за из для при над под между через без что чтобы как так же ли бы то это этот эта эти
того этого тем этим тот та те все всё весь всех всем я мы ты вы он она оно они его ее их ему ей им нас вас мне мой
моя наш ваш свой свои своя который которая которые которое которых где когда если или а но да уже еще только также
тоже очень можно нужно надо будет будут был была было были быть есть есть ли кто чем чего кого ней нем них раз пока
после перед потому поэтому однако лишь более менее самый самая каждый каждая любой другой того там тут здесь сам
сама себя собой сейчас
""")

#: Words that turn a statement round. JSON's `false` and `null` are among them.
NEGATIONS = _words("""
not no never none nobody nothing nowhere without cannot cant wont dont doesnt didnt isnt arent wasnt werent hasnt
havent hadnt shouldnt couldnt wouldnt neither nor false null unable hardly не нет ни нельзя никто ничто ничего
никогда никак нигде без невозможно никому ничем
""")

#: Words that claim for all, or for nothing else.
ABSOLUTES = _words("""
all every always only never entire entirely each everything everyone any none все всё всегда только никогда каждый
каждого каждую целиком любой любая полностью всем всех
""")

_SAME = """
buy purchase acquire bought | sell sold sale | cost price fee charge pay paid payment | cheap inexpensive
free gratis complimentary | begin start commence open launch started | end finish stop complete conclude
close shut | build construct built erect | make create produce manufacture made | show display present
find discover found locate | need require must necessary | want wish desire | use utilise employ used
help assist support | fix repair mend restore | change alter modify | increase rise grow raise grew rose
decrease fall drop reduce decline lower fell | big large huge great | small little tiny | quick fast rapid | slow
begin | car vehicle automobile | bike bicycle cycle | doctor physician | child children kid pupil
person people human man woman resident | firm company business enterprise | shop store
trip journey travel crossing | last take duration long | leave depart departure left | arrive arrival reach come
send ship dispatch deliver sent | receive get obtain | allow permit let authorise | forbid prohibit ban disallow
include contain comprise | cover | book reserve reservation booking | cancel annul | delete remove erase
postpone delay defer | error fault bug failure | fail failed unsuccessful | succeed success successful | begin
year annual yearly | month monthly | week weekly | day daily | hour hourly | number count amount
max maximum most highest | min minimum least lowest | refund reimburse | return | replace substitute
choose select pick | win won victory winner beat | lose lost | high tall height | deep depth | wide width
heavy weigh weight | old age | name call title | live reside home | work operate run function
speak talk say tell said told | write wrote author | see view visible | big | keep store hold retain | get | become
photo picture image photograph photography | film movie | town city | street road | sea ocean | hot warm temperature
cold cool chilly | rain rainy | approximately roughly about circa around | damage harm hurt break broke
reject refuse decline | approve accept | request ask apply | answer reply respond | deadline due limit
expire lapse | update upgrade | assign assignee | status state | owner own possess | employee staff worker
client customer | percent % | usd dollar $ | eur euro € | rub ruble рубл руб ₽ | km kilometre kilometer
m metre meter | kg kilogram kilogramme | min minute | h hour | gb gigabyte | ticket admission entry entrance
lorry truck | flat apartment | degree | покупа купить куплен приобрести | продава продать продажа
стоит стоимост цена плата платить платят оплата сумма берут | бесплатно бесплатный | начать начинается начало открыт
кончится заканчивается завершить завершен закончиться прекратит конец | построить построен строительств
сделать делать изготовить | показать показывает | найти нашли обнаружить | нужно требуется необходимо
использовать применять пользоваться | помощ помогать | починить ремонт ремонтировать восстановить
изменить менять перемен | увеличить рост вырос растет | снизить снижение падает уменьшить упал | большой крупный
маленький небольшой | быстрый быстро скорый | машина автомобиль | ребенок дети детей ребят
человек люди людей взрослый | компания фирма предприятие | магазин | поездка путь переправа
длится длина занимает продолжительн | отходит отправляется отправление вылет вылетает
прийти приехать прибыть прибытие | отправить послать выслать | получить получен | разрешить разрешено допускается
запретить запрещен | включать входить содержать включен | заказать забронировать бронь | отменить отмена
удалить убрать убирать | отложить перенести | ошибка сбой | год ежегодно | месяц ежемесячно | неделя еженедельно
день дня ежедневно | час | число количество | вернуть возврат возвращать | заменить замена | выбрать выбор
победить выиграть победа обыграть побеждает | проиграть проигран | высокий высота | глубокий глубина
вес весит весить | имя название зовут | жить проживать | работать действовать | сказать говорить сообщить | видеть
хранить хранится | снимок снимать фото фотографировать | город | улица | море | тепло температура | дождь
примерно около приблизительно | сломать портить повредить | отклонить отказать | одобрить принять
просить запросить заявление заявка | срок | обновить обновление | исполнитель назначен | статус состояние
клиент покупатель | билет вход | грузовик | процент | километр км | метр | килограмм кг | минута мин
чистить очистка очищать мыть моют промыть
"""

_OPPOSITES = """
increase decrease | pass fail | passed failed | win fail | merged open | open closed | open close | before after
first last | success failure | succeed fail | allow forbid | include exclude | enable disable | enabled disabled
win lose | buy sell | high low | higher lower | more fewer | more less | larger smaller | max min | most fewest
most least | early late | arrive leave | north south | east west | hot cold | soft hard | new old | original new
summer winter | spring autumn | morning evening | day night | left right | cheap expensive | free paid
paid overdue | paid open | on off | best worst | above below | up down | longer shorter | faster slower
appear disappear | return disappear | daily weekly | weekly monthly | start end | accept reject | approve reject
approve postpone | stay leave | keep lose | full empty | wet dry | light dark | раньше позже | открыт закрыт
первый последний | успешн неудачн | разрешить запретить | увеличить снизить | рост падение | выиграть проиграть
купить продать | высокий низкий | больше меньше | север юг | восток запад | горячий холодный | мягкий твердый
новый старый | зима лето | весна осень | утро вечер | день ночь | дешевле дороже | бесплатный платный
оплачен просрочен | открыт просрочен | лучше хуже | выше ниже | сильнее слабее | ежедневно еженедельно
начало конец | принять отклонить | одобрить отложить | остаться покинуть | тонкий толстый | появиться исчезнуть
вернуться исчезнуть | включен отключен | утром вечером | старше младше | мокрый сухой
"""

#: Words that say no by themselves: closed, forbidden, failed.
_NEGATIVE = """
closed forbidden prohibited banned excluded disabled unavailable failed impossible expired cancelled rejected unpaid
off empty offline illegal invalid skipped exclude forbid prohibit ban disallow fail закрыт запрещен запретить
отключен недоступен исключен отменен отклонен невозможен просрочен пуст неоплачен пропущен недействителен незаконно
"""

_MONTHS = {
    "en": "january february march april may june july august september october november december",
    "short": "jan feb mar apr - jun jul aug sep oct nov dec",
    "ru": "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь",
}
_WEEKDAYS = (
    "monday tuesday wednesday thursday friday saturday sunday",
    "понедельник вторник среда четверг пятница суббота воскресенье",
)
_NUMBERS = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty",
    "два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать тринадцать "
    "четырнадцать пятнадцать шестнадцать семнадцать восемнадцать девятнадцать двадцать",
    "двух трех четырех пяти шести семи восьми девяти десяти одиннадцати двенадцати",
    "двое трое четверо пятеро шестеро",
    "две",
)
_TENS = {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "hundred": "100", "half": "0.5", "twice": "2",
         "дважды": "2", "двумя": "2", "половина": "0.5", "тридцать": "30", "сорок": "40",
         "пятьдесят": "50", "шестьдесят": "60", "сто": "100", "девятью": "9"}  # fmt: skip
#: Powers of ten that a word after a number stands for.
POWERS = {"thousand": 3, "million": 6, "billion": 9, "mln": 6, "bn": 9, "тысяч": 3, "тыс": 3, "млн": 6,
          "миллион": 6, "миллионов": 6, "миллиона": 6, "миллиард": 9, "млрд": 9, "тысячи": 3, "тысяча": 3}  # fmt: skip


def _groups(text: str) -> list[list[str]]:
    return [
        [stem(word) for word in group.split()]
        for line in text.split("\n")
        for group in line.split("|")
        if group.strip()
    ]


def _canonical() -> dict[str, str]:
    found: dict[str, str] = {}
    for group in _groups(_SAME):
        # A word of two groups ("begin", "lower") stays in the first.
        head = next((found[word] for word in group if word in found), group[0])
        for word in group:
            found.setdefault(word, head)
    return found


#: One stem for words that mean about the same.
CANONICAL = _canonical()


def canonical(word: str) -> str:
    """The stem that stands for a lower-case word and those that mean about the same."""
    stemmed = stem(word)
    return CANONICAL.get(stemmed, stemmed)


_LIGHT = """
run use need come go give take last begin finish include keep work get become find show say receive ask measure
stand offer serve bring put set help want like look thing way part kind идти дать взять иметь получить сказать нужно
работать показать найти использовать включать занимает вещь часть вид
"""
#: Canonical stems that say little: that one of them is missing from evidence hardly counts.
LIGHT = frozenset(canonical(word) for word in _LIGHT.split())


def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for group in _groups(_OPPOSITES):
        one, other = (CANONICAL.get(word, word) for word in group)
        if one != other:
            found.setdefault(one, set()).add(other)
            found.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in found.items()}


#: The opposites of a canonical stem.
OPPOSITES = _opposites()
#: Canonical stems that say no by themselves.
NEGATIVE = frozenset(canonical(word) for word in _NEGATIVE.split())


def _calendar() -> dict[str, str]:
    found: dict[str, str] = {}
    for lang in ("en", "short", "ru"):
        for index, word in enumerate(_MONTHS[lang].split(), 1):
            found[word] = f"m{index}"
            if lang == "ru":
                found[stem(word)] = f"m{index}"
    found.update({"мая": "m5", "мае": "m5", "марта": "m3", "марте": "m3"})
    for line in _WEEKDAYS:
        for index, word in enumerate(line.split(), 1):
            found[word] = found[word + "s"] = f"wd{index}"
            found[stem(word)] = f"wd{index}"
    found.update(
        {
            "среду": "wd3",
            "средам": "wd3",
            "среды": "wd3",
            "субботу": "wd6",
            "пятницу": "wd5",
            "пятницам": "wd5",
            "вторникам": "wd2",
        }
    )
    del found["-"]
    return found


#: Months and weekdays by word or stem: `m3`, `wd5`.
CALENDAR = _calendar()
#: Calendar words that mean something else in lower case.
ONLY_CAPITAL = frozenset({"may", "march", "mar", "sep", "dec", "jan", "jun", "jul", "apr", "nov", "oct", "aug", "feb"})


_ORDINALS = (
    "second third fourth fifth sixth seventh eighth ninth tenth",
    "второй третий четвертый пятый шестой седьмой восьмой девятый десятый",
    "вторая третья четвертая пятая шестая седьмая восьмая девятая десятая",
    "второе третье четвертое пятое шестое седьмое восьмое девятое десятое",
    "вторым третьим четвертым пятым шестым седьмым восьмым девятым десятым",
    "второго третьего четвертого пятого шестого седьмого восьмого девятого десятого",
    "вторую третью четвертую пятую шестую седьмую восьмую девятую десятую",
)


def _number_words() -> dict[str, str]:
    found = dict(_TENS)
    for line in _ORDINALS:
        for index, word in enumerate(line.split(), 2):
            found[word] = f"o{index}"
    for line in _NUMBERS:
        for index, word in enumerate(line.split(), 2):
            found[word] = str(index)
    return found


#: Number words by their digits, ordinals as `o2`. Not "one", which is a pronoun as often.
NUMBER_WORDS = _number_words()
