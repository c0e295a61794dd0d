# Loads a data frame from a file: the columns with their types, and the rows.
def _parlor_load(path, name):
    import json
    import pandas

    with open(path, encoding="utf-8") as file:
        table = json.load(file)
    columns = {}
    for index, kind in enumerate(table["types"]):
        values = [row[index] for row in table["rows"]]
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
    frame = pandas.DataFrame(columns)
    frame.columns = table["columns"]
    get_ipython().user_ns[name] = frame
