# Figures that code draws and nobody would see: without matplotlib's inline backend, saved and closed, or saved by another package. They
# are shown, or named, when the call ends. A part of the first code of a session.
def prepare_figures():
    import importlib.abc
    import os
    import sys
    import warnings

    from IPython.display import display

    shell = get_ipython()

    # matplotlib's list of fonts is made once, and only read here. It is looked for in this folder.
    try:
        cache = os.path.expanduser("~/.cache/matplotlib")
        lists = os.listdir(font_folder)
        if lists:
            os.makedirs(cache, exist_ok=True)
        for name in lists:
            os.symlink(os.path.join(font_folder, name), os.path.join(cache, name))
    except OSError:
        pass

    suffixes = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".svg", ".pdf", ".html")
    named_at_most = 8

    class Seen:
        """What the present call has shown and saved."""

        def begin(self, *_):
            self.figures, self.others, self.saved, self.paths = set(), False, [], set()
            self.files = files()

    def files():
        found = {}
        try:
            with os.scandir(".") as entries:
                for entry in entries:
                    if entry.name.lower().endswith(suffixes) and not entry.is_symlink():
                        about = entry.stat()
                        found[entry.name] = (about.st_mtime_ns, about.st_size)
        except OSError:
            pass
        return found

    seen = Seen()
    seen.begin()
    formatter = shell.display_formatter
    form = formatter.format

    def form_seen(value, *arguments, **options):
        forms = form(value, *arguments, **options)
        if any(name.startswith(("image/", "application/vnd.plotly")) for name in forms[0]):
            if is_figure(value):
                seen.figures.add(id(value))
            else:
                seen.others = True
        return forms

    formatter.format = form_seen

    def is_figure(value):
        figure = sys.modules.get("matplotlib.figure")
        return figure is not None and isinstance(value, figure.Figure)

    def picture(figure):
        from IPython.core.pylabtools import print_figure

        return print_figure(figure, "png")

    # Another backend than the inline one brings no form of its own.
    formatter.formatters["image/png"].for_type_by_name("matplotlib.figure", "Figure", picture)
    warnings.filterwarnings("ignore", message=".*is non-interactive, and thus cannot be shown", category=UserWarning)

    def watch_saving(module):
        save = module.Figure.savefig

        def savefig(self, fname, *arguments, **options):
            result = save(self, fname, *arguments, **options)
            seen.saved.append(self)
            if isinstance(fname, (str, os.PathLike)):
                seen.paths.add(os.path.abspath(os.fspath(fname)))
            return result

        savefig.__doc__, savefig.__wrapped__ = save.__doc__, save
        module.Figure.savefig = savefig

    class Watcher(importlib.abc.MetaPathFinder):
        """Watches figures once their module is imported."""

        def find_spec(self, name, path=None, target=None):
            if name != "matplotlib.figure":
                return None
            sys.meta_path.remove(self)
            spec = importlib.util.find_spec(name)
            if spec is not None and spec.loader is not None:
                execute = spec.loader.exec_module

                def exec_module(module):
                    execute(module)
                    watch_saving(module)

                spec.loader.exec_module = exec_module
            return spec

    sys.meta_path.insert(0, Watcher())

    def show_open_figures():
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None or keeps_open(pyplot):
            return
        for number in pyplot.get_fignums():
            figure = pyplot.figure(number)
            if id(figure) not in seen.figures and figure.axes:
                display(figure)
            pyplot.close(figure)

    def keeps_open(pyplot):
        inline = sys.modules.get("matplotlib_inline.backend_inline")
        is_inline = inline is not None and "inline" in str(pyplot.get_backend())
        return is_inline and not inline.InlineBackend.instance().close_figures

    def show_saved_figures():
        for figure in seen.saved:
            if id(figure) not in seen.figures:
                display(figure)

    def name_files():
        new = [name for name, about in files().items() if seen.files.get(name) != about]
        new = sorted(name for name in new if os.path.abspath(name) not in seen.paths)
        if new and not seen.others:
            names = ", ".join(new[:named_at_most]) + (f" and {len(new) - named_at_most} more" if len(new) > named_at_most else "")
            print(f"[Written to the session’s folder, where the person can’t see it: {names}.]")

    def end(*_):
        for step in (show_open_figures, *(() if seen.others else (show_saved_figures,)), name_files):
            try:
                step()
            except Exception as error:
                print(f"[A figure can’t be shown: {type(error).__name__}: {error}]")
        seen.begin()

    shell.events.register("pre_run_cell", seen.begin)
    shell.events.register("post_run_cell", end)


prepare_figures()
