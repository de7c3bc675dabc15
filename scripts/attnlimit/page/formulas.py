"""Formulas of plain text as MathML, which browsers typeset without a library."""

import re
from html import escape


def identifier(name: str) -> str:
    return f"<mi>{name}</mi>"


def number(digits: str) -> str:
    return f"<mn>{digits}</mn>"


def sign(symbol: str) -> str:
    """As tall as a letter, whatever stands beside it."""
    return f'<mo stretchy="false">{symbol}</mo>'


def row(*parts: str) -> str:
    return f"<mrow>{''.join(parts)}</mrow>"


def brackets(*parts: str) -> str:
    return row(sign("("), *parts, sign(")"))


def fraction(above: str, below: str) -> str:
    return f"<mfrac>{above}{below}</mfrac>"


def root(*parts: str) -> str:
    return f"<msqrt>{''.join(parts)}</msqrt>"


def power(base: str, exponent: str) -> str:
    return f"<msup>{base}{exponent}</msup>"


def index(base: str, below: str) -> str:
    return f"<msub>{base}{below}</msub>"


def function(name: str, *parts: str) -> str:
    return row(identifier(name), sign("&#x2061;"), *parts)  # the invisible sign of application


SPACE = '<mspace width="0.17em"/>'
ONE, TWO, N, R, H = number("1"), number("2"), identifier("n"), identifier("R"), identifier("H")
BETA, PSI, S0 = identifier("β"), identifier("Ψ"), index(identifier("s"), number("0"))
LOG_N = function("ln", N)
MEAN = row(identifier("E"), sign("|"), index("<mtext>mean</mtext>", N), sign("|"))
LEADING_TERM = fraction(
    row(function("ln", brackets(number("4"))), identifier("σ")), row(TWO, root(TWO, function("ln", N)))
)


def bound(coupling: str) -> str:
    return fraction(ONE, row(TWO, brackets(ONE, sign("+"), coupling)))


FORMULAS = {  # as claims write them, and as they are typeset; a longer one comes before its parts
    "1/(2(1+32Ψ))": bound(row(number("32"), PSI)),
    "1/(2(1+Ψ))": bound(PSI),
    "1/(2(1+H²))": bound(power(H, TWO)),
    "1/(1+H²)": fraction(ONE, row(ONE, sign("+"), power(H, TWO))),
    "E|meanₙ|": MEAN,
    "ln(4) σ / (2√(2 ln n))": LEADING_TERM,
    "(1 + o(1))": brackets(ONE, sign("+"), identifier("o"), brackets(ONE)),
    "C(R)/√n": fraction(row(identifier("C"), brackets(R)), root(N)),
    "1/√(ln n)": fraction(ONE, root(LOG_N)),
    "1/√n": fraction(ONE, root(N)),
    "1/ln n": fraction(ONE, LOG_N),
    "exp(2s₀²)": power(identifier("e"), row(TWO, power(S0, TWO))),
    "exp(0.5R)": power(identifier("e"), row(number("0.5"), R)),
    "d ln C/dR": fraction(row(identifier("d"), SPACE, function("ln", identifier("C"))), row(identifier("d"), R)),
    "C′(R)": row(power(identifier("C"), sign("′")), brackets(R)),
    "C(R)": row(identifier("C"), brackets(R)),
    "n⁻ᵝ": power(N, row(sign("−"), BETA)),
    "√n": root(N),
    "ln n": LOG_N,
    "s₀": S0,
    "H²": power(H, TWO),
}
LETTERS = {"β": BETA, "Ψ": PSI, "H": H, "n": N, "R": R}
PATTERN = re.compile(
    "|".join(map(re.escape, FORMULAS))
    + r"|(?<![\w.])(?P<digits>\d(?:\.\d+)?)e(?P<exponent>[+-]\d+)\b"
    + rf"|(?<![\w’'-])(?:{'|'.join(LETTERS)})(?![\w’'-])"
)


def typeset(text: str) -> str:
    """Text as HTML: what it holds of FORMULAS, LETTERS and numbers like 3e-41 becomes MathML, the rest is escaped."""
    parts, end = [], 0
    for found in PATTERN.finditer(text):
        parts += [escape(text[end : found.start()], quote=False), f"<math>{formula(found)}</math>"]
        end = found.end()
    return "".join([*parts, escape(text[end:], quote=False)])


def formula(found: re.Match) -> str:
    if digits := found["digits"]:
        exponent = int(found["exponent"])
        raised = row(sign("−"), number(str(-exponent))) if exponent < 0 else number(str(exponent))
        return row(number(digits), sign("×"), power(number("10"), raised))
    return FORMULAS.get(found[0]) or LETTERS[found[0]]
