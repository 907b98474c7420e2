"""Sentences by which an assistant declines or says that it does not know: no claim about anything, so nothing to support.

Only what says nothing else counts: "I cannot help with that." declines, "I cannot refund orders older than 30 days." is a
claim about refunds. "As an AI, I cannot help with that." declines too; "As an AI made by Acme, I cannot help with that." and "As
an AI model, it scored 81 %." say something besides. English and Russian.
"""

from __future__ import annotations

import re

#: A longer sentence says something else too.
_LONGEST = 160

_SOURCES = (
    # Spaces escaped: this stands in a pattern whose plain spaces mean nothing.
    r"(?:documents?|documentation|context|contexts|information|data|sources?|materials?|tool\ results?|results|text)"
    r"(?:\ (?:provided|given|available|above|i\ have|you\ provided))?"
)
# What an assistant says of itself on the way: that it is one, and nothing else.
_AS_AI = (
    r"(?:as|being)\ (?:just\ |only\ |merely\ )?(?:an?|your)\ (?:"
    r"(?:ai|artificial\ intelligence)(?:[\ -](?:based|powered|driven))?"
    r"(?:\ (?:large\ )?(?:language\ )?(?:model|assistant|system|chatbot|bot|agent|program|tool))?"
    r"|(?:large\ )?language\ model|llm|(?:virtual\ |digital\ |automated\ )?(?:assistant|chatbot|bot|agent)"
    r")"
)
_AS_AI_RU = (
    r"(?:как|будучи)\ (?:"
    r"ии(?:[\ -](?:ассистент\w{0,2}|помощник\w{0,2}|модел\w{1,2}|систем\w{1,2}|бот\w{0,2}))?|искусственн\w{2,3}\ интеллект\w{0,2}"
    r"|(?:больш\w{2,3}\ )?языков\w{2}\ модел\w{1,2}|модел\w{1,2}\ искусственного\ интеллекта"
    r"|(?:виртуальн\w{2}\ |цифров\w{2}\ )?(?:ассистент\w{0,2}|помощник\w{0,2}|чат-бот\w{0,2}|бот\w{0,2})"
    r")"
)
_DECLINES = re.compile(
    rf"""(?:{_AS_AI}[,\ —-]{{1,3}})?
    (?:(?:(?:i|we)(?:'m|\ am|'re|\ are)\ )?(?:very\ |really\ |so\ |terribly\ )?(?:sorry|afraid)|my\ apologies|apologies
        |i\ apologi[sz]e|unfortunately|regrettably)?[,.!;:\ —-]*(?:but\ |that\ )?
    (?:{_AS_AI}[,\ —-]{{1,3}})?
    (?:(?:i|we)(?:\ am|'m|\ are|'re)?\ (?:really\ |simply\ |just\ |still\ |currently\ )?
      (?:
        (?:do\ not|don't|did\ not|didn't)\ know(?:\ (?:that|this|the\ answer|how\ to\ answer)(?:\ (?:to|here).{{0,30}})?)?
      | (?:not\ (?:sure|certain))(?:\ about\ (?:that|this|it))?
      | (?:can\ ?not|can't|could\ not|couldn't|unable\ to|not\ able\ to|won't\ be\ able\ to)
        \ (?:help|assist|answer|comply|do\ (?:that|this)|say|tell|provide\ (?:that|this|an\ answer)|determine\ (?:that|this))
        (?:\ you)?(?:\ (?:with\ )?(?:that|this|it|your|the)(?:\ (?:request|question|query|matter))?)?
      | can\ ?not | can't
      | (?:do\ not|don't)\ have\ (?:enough|sufficient|the|any)\ (?:information|data|details|context)
        (?:\ (?:to\ (?:answer|help|say)|about\ (?:that|this)|on\ (?:that|this))(?:\ with)?
          (?:\ (?:that|this|it|your|the))?(?:\ (?:question|request))?)?
      )
    )?(?:\ (?:from|based\ on|given|with|using|in)\ (?:the\ |these\ |this\ )?
      (?:(?:provided|given|available|retrieved)\ )?{_SOURCES})?
    (?:,?\ {_AS_AI})?
    [.!…\ ]*
    | (?:{_AS_AI_RU}[,\ —-]{{1,3}})?(?:к\ сожалению|увы|извините|простите|прошу\ прощения)?[,.!\ —-]*(?:но\ )?
    (?:{_AS_AI_RU}[,\ —-]{{1,3}})?
    (?:(?:я|мы)?\ ?
      (?:
        не\ (?:знаю|знаем|уверен|уверена|уверены)(?:\ (?:ответа?|этого|точно))?(?:\ на\ (?:этот|ваш|данный)\ вопрос)?
      | не\ (?:могу|можем|смогу|сможем|в\ состоянии)\ (?:вам\ )?
        (?:помочь|ответить|сказать|подсказать|выполнить|это\ сделать|сделать\ это)
        (?:\ вам)?(?:\ (?:на|с|в|по)\ (?:этот|этим|этом|эту|ваш|вашим|данный|этому)
          (?:\ (?:вопрос|вопросом|запрос|запросом|просьбу))?
          |\ (?:этот|эту|ваш|вашу|данный)\ (?:запрос|просьбу))?
      | у\ (?:меня|нас)\ (?:недостаточно|нет|не\ хватает)\ (?:информации|данных|сведений)
        (?:,?\ (?:чтобы|для\ того,?\ чтобы)\ (?:ответить|помочь)|\ для\ ответа|\ об\ этом)?(?:\ на\ (?:этот|ваш|данный)\ вопрос)?
      )
    )?(?:\ (?:по|на\ основе|на\ основании|из)\ (?:предоставленн\w{{1,4}}|имеющ\w{{1,6}}|доступн\w{{1,4}}|этим|данным|этих)?\ ?
      (?:документ\w{{0,4}}|данным|данных|контекст\w{{0,3}}|информации|источник\w{{0,4}}))?
    [.!…\ ]*""",
    re.IGNORECASE | re.VERBOSE,
)
#: How what declines in English begins: most sentences begin otherwise, and need not be held against the pattern.
_STARTS = (
    "i", "we", "as", "being", "very", "really", "so", "terribly", "afraid", "my", "apolog", "unfort", "regret", "but", "that",
    ",", ".", "!", ";", ":", "-",
)  # fmt: skip


def declines(sentence: str) -> bool:
    """Whether `sentence` does nothing but decline, apologise or say that the assistant does not know."""
    text = sentence.strip().replace("’", "'")
    if text.isascii() and not text.lower().startswith(_STARTS):
        return False
    if not text or len(text) > _LONGEST or not any(letter.isalpha() for letter in text):
        return False
    return _DECLINES.fullmatch(text) is not None
