# Errors, text that is no Unicode, and the end of a session. A part of the first code of a session.
def prepare_kernel():
    import mmap
    import os
    import tempfile
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

    # Shared memory without a file, the default of Python, is refused, because no limit counts it. It gets a file without a name.
    plain = mmap.mmap

    class SharedByFile(plain):
        def __new__(
            cls,
            fileno,
            length,
            flags=mmap.MAP_SHARED,
            prot=mmap.PROT_READ | mmap.PROT_WRITE,
            access=mmap.ACCESS_DEFAULT,
            offset=0,
            **options,
        ):
            if fileno != -1 or not flags & mmap.MAP_SHARED or access == mmap.ACCESS_COPY:
                return plain.__new__(cls, fileno, length, flags, prot, access, offset, **options)
            with tempfile.TemporaryFile() as file:
                # Pages that are missing later would end the process.
                os.posix_fallocate(file.fileno(), 0, length)
                flags &= ~mmap.MAP_ANONYMOUS
                return plain.__new__(cls, file.fileno(), length, flags, prot, access, 0, **options)

    SharedByFile.__name__, SharedByFile.__qualname__, SharedByFile.__module__ = "mmap", "mmap", "mmap"
    mmap.mmap = SharedByFile


prepare_kernel()
