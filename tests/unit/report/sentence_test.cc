// Names and words of sentences.
#include <string>

#include "catch.h"
#include "report/document.h"
#include "text/utf8.h"

using namespace whyoom;

namespace TEST_FILE {

bool IsName(const doc::Span& span) { return span.kind == doc::Span::Kind::kCode; }

// The sentence with its names in brackets.
std::string Marked(const std::string& sentence) {
  std::string text;
  for (const doc::Span& span : doc::Sentence(sentence)) text += IsName(span) ? "⟦" + span.text + "⟧" : span.text;
  return text;
}

TEST_CASE("names in a sentence are distinguished from words", "[report]") {
  CHECK(Marked("takes 10.38 GiB, 66 % of the limit (line 55).") == "takes 10.38 GiB, 66 % of the limit (line 55).");
  CHECK(Marked("about 1 %; for all") == "about 1 %; for all");
  CHECK(Marked("f32[10,4,2] takes 32 × its data.") == "⟦f32[10,4,2]⟧ takes 32 × its data.");
  CHECK(Marked("the call at train.py:36.") == "the call at ⟦train.py:36⟧.");
  CHECK(Marked("(x.delete(), del)") == "(⟦x.delete()⟧, del)");
  CHECK(Marked("a NamedSharding(mesh, P(...)) along") == "a ⟦NamedSharding(mesh, P(...))⟧ along");
  CHECK(Marked("never f(closed and so on") == "never ⟦f(closed⟧ and so on");
  CHECK(Marked("use jax.jit, or model.fit of Keras, e.g. 1.5 times") ==
        "use ⟦jax.jit⟧, or ⟦model.fit⟧ of Keras, e.g. 1.5 times");
  CHECK(Marked("torch_xla's scan") == "⟦torch_xla⟧'s scan");
  CHECK(Marked("each layer: block = jax.checkpoint(block); not") == "each layer: ⟦block = jax.checkpoint(block)⟧; not");
  CHECK(Marked("the need = what is there") == "the need ⟦=⟧ what is there");
  CHECK(doc::Sentence("").empty());
}

TEST_CASE("quotes that belong to a name stay with it", "[report]") {
  CHECK(Marked("ARGS=\"--x_y=5\": tries") == "⟦ARGS=\"--x_y=5\"⟧: tries");
  CHECK(Marked("flags=\"--x_y=5 ...\", the") == "⟦flags=\"--x_y=5 ...\"⟧, the");
  CHECK(Marked("or donate='all-but_first' to") == "or ⟦donate='all-but_first'⟧ to");
  CHECK(Marked("\"blockwise\" in \"f(x)\".") == "\"blockwise\" in \"⟦f(x)⟧\".");
  CHECK(Marked("a=\"never closed") == "⟦a=\"never⟧ closed");
}

TEST_CASE("text that the rule data marks is code", "[report]") {
  CHECK(Marked("`free -h`, and `ps`") == "⟦free -h⟧, and ⟦ps⟧");
  CHECK(Marked("see (`del t`) or `f(x) - g(y)`.") == "see (⟦del t⟧) or ⟦f(x) - g(y)⟧.");
  CHECK(Marked("`free -h`, and (`ps`)") == "⟦free -h⟧, and (⟦ps⟧)");
  // Not marks: an unclosed one, one inside a word, an empty one.
  for (const char* text : {"a ` b", "it`s one`s", "a ` ` b", "``"}) {
    INFO(text);
    CHECK(Marked(text).find('`') != std::string::npos);
  }
}

TEST_CASE("text that a markup language could interpret is not a word", "[report]") {
  for (const std::string& text : {"@octocat",
                                  "#12",
                                  "GH-12",
                                  "o/r#3",
                                  "https://example.org",
                                  "www.example.org",
                                  "a@b.example",
                                  "<b>",
                                  "&amp;",
                                  "**b**",
                                  "_i_",
                                  "`c`",
                                  "[x](y)",
                                  "![x](y)",
                                  "~~s~~",
                                  "$x$",
                                  ":tada:",
                                  "a|b",
                                  "\\",
                                  "0123456",
                                  "deadbeef",
                                  "PROJ-7",
                                  "1.",
                                  "2)",
                                  "-",
                                  "+",
                                  "=",
                                  "===",
                                  "---",
                                  ">",
                                  "#"}) {
    INFO(text);
    CHECK(IsName(doc::Sentence(text).at(0)));
    const doc::Spans spans = doc::Sentence(text + " and");
    CHECK(IsName(spans[0]));
    CHECK(spans.at(1).text.find_first_not_of(".,;:!?) and") == std::string::npos);
  }
  CHECK(Marked("a - b") == "a - b");  // not a Markdown list, because the dash is not at the start
  CHECK(Marked("  1. x").find("⟦1") != std::string::npos);
}

TEST_CASE("the spans contain the whole sentence", "[report]") {
  for (const std::string& text : {std::string("a  f(x,\ty) \xff ) ) ("), std::string("((((("), std::string(300, ')'),
                                  std::string("\"'(x)'\" ... (…)"), std::string("a\nb"), std::string("`a b` c ` d")}) {
    std::string joined;
    for (const doc::Span& span : doc::Sentence(text)) {
      CHECK_FALSE(span.text.empty());
      joined += span.text;
    }
    std::string whole = Printable(text);
    std::erase(joined, '`');
    std::erase(whole, '`');
    CHECK(joined == whole);
  }
}

}  // namespace TEST_FILE
