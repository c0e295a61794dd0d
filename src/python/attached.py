# Links files into the folder in which the session works.
def _parlor_link(folder, names):
    import os

    for name in names:
        link = os.path.join(get_ipython().starting_dir, name)
        if not os.path.lexists(link):
            os.symlink(os.path.join(folder, name), link)

