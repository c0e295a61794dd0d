# Errors, text that is no Unicode, and the end of a session. A part of the first code of a session.
def prepare_kernel():
    import warnings

    shell = get_ipython()
    shell.InteractiveTB.set_mode(mode="Plain")

    # Half of a surrogate pair can't be written in UTF-8, so that the message with it would be lost, and with it an exception.
    session = shell.kernel.session
    pack = session.pack

    def whole(value):
        if isinstance(value, str):
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        if isinstance(value, dict):
            return {whole(key): whole(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [whole(item) for item in value]
        return value

    def pack_whole(value):
        try:
            packed = pack(value)
            packed.decode("utf-8")
            return packed
        except UnicodeError:
            return pack(whole(value))

    session.pack = pack_whole

    # `exit` and `quit` end the session as `sys.exit` does: the helper process sees the exception, and ends the kernel.
    def leave():
        raise SystemExit

    shell.ask_exit = leave
    warnings.filterwarnings("ignore", message="To exit: use 'exit'", category=UserWarning)
    # This process of multiprocessing ends with each call, as others do.
    warnings.filterwarnings("ignore", message="resource_tracker: process died unexpectedly")


prepare_kernel()
