"""Patterns of wording that is hard for an international reader, each with a better wording."""
import re

# A place where a sentence can begin.
START = r"(?:^|[.;:] )"
PATTERNS = [(re.compile(pattern, re.IGNORECASE), advice) for pattern, advice in (
    (START + r"(?:of|to|for|from|by|in|on|with|without|at) (?:the |a |an )?(?:those|these|what|"
     r"whom|whose|it|each|them)\b",
     "begin with the subject"),
    (START + r"(?-i:Of) (?!course)", "begin with the subject"),
    (START + r"nor\b", "begin with the subject: `X does not ... either`"),
    (r"\b(?:nobody|somebody|anybody|everybody|whoever|whomever|no one|one who|those who|whichever|wherever)\b",
     "name the subject: operator, user, replica, ..."),
    (r"\bwhere (?:it|that|this|there|these|they|none|nothing|neither|either|one|no|not|the|a|an|such|what|its|of|"
     r"silent)\b",
     "`if` or `when`; `in which` of a place"),
    (r"\b(?:goes|go|going|went) on\b", "continues, resumes"),
    (r"\b(?:stands|stood|stand) (?:as|in|there|for|on|beside|still|twice|where|here|by|at|alone)\b|\bwhat stands\b",
     "is, is listed, stays"),
    (r"\b(?:is|are|was|were|be|been|being) (?:told|said|asked|looked at|looked for|taken in|taken for|taken over|let go|"
     r"let be|given up|given back|kept out|held back|thought of|spoken for)\b",
     "name who does what: notifies, reports, queries, treats as, releases"),
    (r"(?:^|[,;:] )(?:what|whatever) [a-z' ]{2,60}\b(?:is|are|was|were|has|have|may|must|can|does|do|comes|counts|goes)\b",
     "name the thing instead of a clause with `what`"),
    (r"(?<!there )\b(?:knows|is|are|was|were) no (?!longer|more than|less than|matter|need|reason|"
     r"effect|right|access|permission|value|limit|label|taint|default|record|report|such)[a-z]",
     "`is not a ...`, `does not know`"),
    (r"\b(?:anew|whom|thereby|therein|thereof|hitherto|in vain|in earnest|at hand|of ours|of its own accord|by then|for ever)\b",
     "a plain word"),
    (r"\b(?:takes?|took|taking|comes?|came|put|puts) (?:off|away|out of it|it for|them for)\b", "removes, deletes, treats as"),
    (r"\bas it (?:is|was|stands|has been) (?:known|seen|said|told|now)\b|\bas (?:far|long) as (?:nobody|nothing|it is)\b",
     "a plain clause"),
    (r"\b(?:begins?|began|begun) again\b", "restarts"),
    (r"\bsays? (?:a |no |the same )?severity\b", "reports, has, shows"),
    (r"\bmay only (?:stand|be|come)\b", "begin with the subject: `only X may ...`"),
    (r"\b(?:of|from|in|on|by) which nothing\b", "name the subject"),
    (r"(?:^|[.;:] )without a repeat\b", "`if it does not repeat`"),
    (r"\blooks? again\b|\blook_again\b", "checks again"),
)]

# Marked parts of phrases that stay unchanged, with the reason.
EXCUSED = {
    "on each of …": "no start of a sentence: the number of GPUs comes before it",
    "says where the evidence is": "a place",
    "does not say where it sends alerts": "a place",
}


def marks(phrase):
    """Returns the (words, advice) of the patterns that match a phrase."""
    return [(match[0].strip(" .,:;(…"), advice) for pattern, advice in PATTERNS if (match := pattern.search(phrase))]
