# Tables as Markdown, and charts of Altair as pictures. A part of the first code of a session.
def prepare_tables():
    shell = get_ipython()
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
        return table(lines, *value.shape)

    def table(lines, count, width):
        text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        note = f"{count} row{'' if count == 1 else 's'} × {width} column{'' if width == 1 else 's'}"
        if count > rows or width > columns:
            note += f", the first {min(count, rows)} × {min(width, columns)} are shown"
        return f"{text}\n\n{note}"

    def series(value):
        return frame(value.to_frame(name=value.name if value.name is not None else "value"))

    def styler(value):
        try:
            # The formatted values, without hidden rows and columns.
            parts = value._translate(False, False, max_rows=rows, max_cols=columns)
            seen = lambda row: [cell(c["display_value"]) for c in row if c.get("is_visible", True)]
            body = [seen(row) for row in parts["body"]]
            # The head has a row for each level of the columns, and one for the names of the index.
            heads = [[name.replace("&nbsp;", "") for name in seen(row)] for row in parts["head"]]
            width = max(map(len, body + heads))
            full = lambda row: row + [""] * (width - len(row))
            heads = [" ".join(filter(None, names)) for names in zip(*map(full, heads))]
            lines = [heads, ["---"] * width, *map(full, body)]
            caption = value.caption[0] if isinstance(value.caption, tuple) else value.caption
            return (f"{cell(caption)}\n\n" if caption else "") + table(lines, *value.data.shape)
        except Exception:
            return frame(value.data)

    tables = shell.display_formatter.formatters["text/markdown"]
    tables.for_type_by_name("pandas.io.formats.style", "Styler", styler)
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


prepare_tables()
