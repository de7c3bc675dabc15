"""What runs, from which seed, on which device?"""

from attnlimit.base.about import About

ABOUT = About(
    title="the run itself",
    question="What runs, from which seed, on which device?",
)
