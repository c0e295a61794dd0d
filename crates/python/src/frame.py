# Loads a data frame from a file: the columns with their types, and the rows.
def _parlor_load(path, name):
    import json
    import pandas

    with open(path, encoding="utf-8") as file:
        table = json.load(file)
    connection = None
    if "file" in table:
        import pathlib
        import sqlite3

        uri = pathlib.Path(table["file"]).as_uri()
        connection = sqlite3.connect(f"{uri}?mode=ro&immutable=1", uri=True)

    # The values of a column, one column at a time: all rows need more memory than the frame.
    def read(index, kind):
        if connection is None:
            return [row[index] for row in table["rows"]]
        values = [value for (value,) in connection.execute(f"SELECT c{index} FROM rows ORDER BY rowid")]
        return [None if value is None else value == "true" for value in values] if kind == "boolean" else values

    columns = {}
    for index, kind in enumerate(table["types"]):
        values = read(index, kind)
        has_gaps = any(value is None for value in values)
        if kind == "integer":
            column = pandas.Series(values, dtype="Int64" if has_gaps else "int64")
        elif kind == "number":
            special = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
            values = [special.get(value, value) if isinstance(value, str) else value for value in values]
            column = pandas.Series(values, dtype="float64")
        elif kind == "boolean":
            column = pandas.Series(values, dtype="boolean" if has_gaps else "bool")
        elif kind == "time":
            try:
                column = pandas.to_datetime(pandas.Series(values, dtype="object"), format="ISO8601")
            except (ValueError, OverflowError):
                column = pandas.Series(values, dtype="object")
        elif kind == "decimal":
            from decimal import Decimal

            try:
                values = [None if value is None else Decimal(value) for value in values]
            except ArithmeticError:
                pass
            column = pandas.Series(values, dtype="object")
        else:
            column = pandas.Series(values, dtype="object" if not values else None)
        columns[index] = column
    if connection is not None:
        connection.close()
    frame = pandas.DataFrame(columns)
    frame.columns = table["columns"]
    get_ipython().user_ns[name] = frame
