"""A hook of mkdocs: links from the documents to files of the repository lead to where these are shown."""

import pathlib
import re

REPOSITORY = "https://github.com/torchjit/torchjit/blob/main/"


def on_page_markdown(markdown, page, **_):
    def shown(link):
        assert pathlib.Path(link[1]).exists(), f"{page.file.src_path}: {link[1]}"
        return f"]({REPOSITORY}{link[1]})"

    return re.sub(r"\]\(\.\./([^)#\s]+)\)", shown, markdown)
