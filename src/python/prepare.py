# The first code of a session: how values are shown. All names are removed again.
def _parlor_prepare():
    shell = get_ipython()
    shell.InteractiveTB.set_mode(mode="Plain")
    rows, columns, characters = 20, 30, 200

    def cell(value):
        text = "NaN" if isinstance(value, float) and value != value else str(value)
        text = " ".join(text.split())
        if len(text) > characters:
            text = text[: characters - 1] + "…"
        return text.replace("\\", "\\\\").replace("|", "\\|")

    def frame(value):
        shown = value.iloc[:rows, :columns]
        is_plain = type(shown.index).__name__ == "RangeIndex" and shown.index.name is None
        heads = [] if is_plain else [cell(" ".join(str(n) for n in shown.index.names if n is not None))]
        heads += [cell(name if not isinstance(name, tuple) else " ".join(map(str, name))) for name in shown.columns]
        numeric = [] if is_plain else [False]
        numeric += [kind.kind in "iufc" if hasattr(kind, "kind") else False for kind in shown.dtypes]
        lines = [heads, ["---:" if number else "---" for number in numeric]]
        for label, values in zip(shown.index, shown.itertuples(index=False, name=None)):
            label = " ".join(map(str, label)) if isinstance(label, tuple) else label
            lines.append([cell(v) for v in ([] if is_plain else [label]) + list(values)])
        table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        count, width = value.shape
        note = f"{count} row{'' if count == 1 else 's'} × {width} column{'' if width == 1 else 's'}"
        if count > rows or width > columns:
            note += f", the first {min(count, rows)} × {min(width, columns)} are shown"
        return f"{table}\n\n{note}"

    def series(value):
        return frame(value.to_frame(name=value.name if value.name is not None else "value"))

    tables = shell.display_formatter.formatters["text/markdown"]
    for module in ("pandas", "pandas.core.frame"):
        tables.for_type_by_name(module, "DataFrame", frame)
    for module in ("pandas", "pandas.core.series"):
        tables.for_type_by_name(module, "Series", series)

    def chart(value):
        import io

        picture = io.BytesIO()
        value.save(picture, format="png")
        return picture.getvalue()

    pictures = shell.display_formatter.formatters["image/png"]
    for version in ("v5", "v6"):
        for name in ("Chart", "LayerChart", "HConcatChart", "VConcatChart", "ConcatChart", "FacetChart", "RepeatChart"):
            pictures.for_type_by_name(f"altair.vegalite.{version}.api", name, chart)


_parlor_prepare()
del _parlor_prepare
