# The usual names of packages: each is imported when it is used for the first time. A part of the first code of a session.
def prepare_names():
    import importlib
    import importlib.util
    import types

    shell = get_ipython()

    class Package(types.ModuleType):
        def _parlor_load(self):
            alias, name = self.__dict__["_parlor_names"]
            module = importlib.import_module(name)
            if shell.user_ns.get(alias) is self:
                shell.user_ns[alias] = module
            return module

        def __getattr__(self, name):
            return getattr(self._parlor_load(), name)

        def __setattr__(self, name, value):
            setattr(self._parlor_load(), name, value)

        def __dir__(self):
            return dir(self._parlor_load())

        def __repr__(self):
            return repr(self._parlor_load())

    packages = {}
    for alias, name in usual_names.items():
        if importlib.util.find_spec(name.partition(".")[0]) is not None:
            package = Package(name)
            package.__dict__["_parlor_names"] = (alias, name)
            packages[alias] = package

    init_names = shell.init_user_ns

    def init_with_packages():
        init_names()
        shell.user_ns.update(packages)
        shell.user_ns_hidden.update(packages)

    # Also after `%reset`.
    shell.init_user_ns = init_with_packages
    shell.user_ns.update(packages)
    shell.user_ns_hidden.update(packages)


prepare_names()
