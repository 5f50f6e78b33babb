"""What a page consists of, and whether its elements nest."""

from html.parser import HTMLParser


class Outline(HTMLParser):
    VOID = frozenset({"meta", "link", "path", "use", "image", "img", "rect", "br"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.words: list[str] = []
        self.mistakes: list[str] = []
        self.feed(page)

    def handle_starttag(self, name, attributes):
        self.tags.append((name, dict(attributes)))
        if name not in self.VOID:
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.tags.append((name, dict(attributes)))

    def handle_endtag(self, name):
        if name in self.VOID:
            return
        if not self.open or self.open.pop() != name:
            self.mistakes.append(name)

    def handle_data(self, text):
        if text.strip() and "style" not in self.open:
            self.words.append(text.strip())
