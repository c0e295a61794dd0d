# Links files into the folder in which the session works. Prints those whose names were taken, with the names of their links.
def _parlor_link(folder, files):
    import json
    import os

    renamed = []
    for content, name in files:
        target = os.path.join(folder, content)
        stem, ending = os.path.splitext(name)
        link, number = name, 2
        while True:
            path = os.path.join(get_ipython().starting_dir, link)
            if not os.path.lexists(path):
                os.symlink(target, path)
                break
            if os.path.islink(path) and os.readlink(path) == target:
                break
            link = f"{stem}_{number}{ending}"
            number += 1
        if link != name:
            renamed.append([name, link])
    print(json.dumps(renamed))
