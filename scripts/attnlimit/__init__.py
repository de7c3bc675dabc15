"""`keys_needed` is loaded when it is asked for: planning imports this package without any numerical library."""


def __getattr__(name: str):
    if name == "keys_needed":
        from attnlimit.questions.keys.call import keys_needed

        return keys_needed
    raise AttributeError(f"module 'attnlimit' has no attribute {name!r}")
