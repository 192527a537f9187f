"""Reads the pages of reports with Python's parser of HTML, and complains about all that is not well-formed."""
import html.parser

# The elements of which pages may consist.
TAGS = set("""html head meta title style body a header main h1 h2 h3 p ul li dl div dt dd table caption thead tbody tr
              th td span code section figure figcaption svg g path line rect text desc details summary pre
              footer""".split())
VOID_TAGS = {"meta"}
ATTRIBUTES = set("""lang charset name content http-equiv class href id tabindex role aria-label aria-labelledby
                    aria-describedby aria-hidden scope viewbox d x y x1 y1 x2 y2 width height text-anchor""".split())


class Page(html.parser.HTMLParser):
    """Collects what a page consists of, and complains about all that is not well-formed."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.complaints, self.open, self.ids, self.targets, self.texts, self.style = [], [], [], [], [], ""
        self.heads = []
        self.feed(text)
        self.close()
        if self.open:
            self.complaints.append(f"open at the end: {self.open}")

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        if tag not in TAGS:
            self.complaints.append(f"a tag: {tag}")
        if len(names) != len(set(names)) or not set(names) <= ATTRIBUTES:
            self.complaints.append(f"attributes of {tag}: {names}")
        values = dict(attributes)
        if "id" in values:
            self.ids.append(values["id"])
        if "href" in values:
            self.targets.append(values["href"])
        if tag not in VOID_TAGS:
            self.open.append(tag)
        if tag == "th":
            self.heads.append("")

    def handle_startendtag(self, tag, attributes):
        self.complaints.append(f"an element that ends itself: {tag}")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.complaints.append(f"an end of {tag} within {self.open}")

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            self.style += data
        else:
            self.texts.append(data)
            if "th" in self.open:
                self.heads[-1] += data

    def handle_comment(self, data):
        self.complaints.append(f"a comment: {data}")

    def handle_pi(self, data):
        self.complaints.append(f"an instruction: {data}")


def expect_standalone(test, text):
    """Fails the test unless the page is well-formed, and refers to nothing but its own parts. Returns the page."""
    page = Page(text)
    test.assertEqual(page.complaints, [])
    test.assertEqual(len(page.ids), len(set(page.ids)))
    test.assertEqual(set(page.targets) - {"#" + known for known in page.ids}, set())
    test.assertNotRegex(page.style, "url|@import")
    return page
