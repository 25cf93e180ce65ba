#include "report/document.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cctype>

#include "report/formatting.h"
#include "text/utf8.h"

namespace whyoom::doc {
namespace {

using re2::RE2;

constexpr std::size_t kLongestSentence = 2000;  // bytes

bool IsEmpty(const Block& block) {
  if (const auto* paragraph = std::get_if<Paragraph>(&block.content)) return paragraph->text.empty();
  if (const auto* list = std::get_if<List>(&block.content)) return list->items.empty();
  if (const auto* table = std::get_if<Table>(&block.content)) return table->rows.empty();
  if (const auto* code = std::get_if<Code>(&block.content)) return code->lines.empty();
  return false;
}

void EraseEmptyColumns(Table* table) {
  for (std::size_t i = table->columns.size(); i-- > 0;) {
    const auto is_empty = [&](const std::vector<Spans>& row) { return row[i].empty(); };
    if (!std::all_of(table->rows.begin(), table->rows.end(), is_empty)) continue;
    table->columns.erase(table->columns.begin() + static_cast<std::ptrdiff_t>(i));
    for (std::vector<Spans>& row : table->rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// Words of letters, digits and harmless punctuation, unless GitHub or an issue tracker would turn them into a link (the
// hash of a commit, "GH-123", "www.…") or they are code: options, and a dot between letters ("jax.jit", "train.py",
// but not "e.g.").
bool IsWord(std::string_view core) {
  static const RE2 name(
      R"(^-|[^A-Za-z0-9.,'\-/%\x80-\xff]|(?:^|[^A-Za-z0-9])[0-9A-Fa-f]{7,}(?:$|[^A-Za-z0-9])|[A-Za-z0-9]-[0-9][^-]*$|)"
      R"(^[Ww]{3}\.|[A-Za-z0-9][A-Za-z]\.[A-Za-z]|[A-Za-z]\.[A-Za-z][A-Za-z0-9])",
      RE2::Latin1);
  const auto is_letter = [](unsigned char c) { return c >= 0x80 || std::isalnum(c) != 0; };
  return std::any_of(core.begin(), core.end(), is_letter) && !RE2::PartialMatch(core, name);
}

// Matches text up to a blank: opening punctuation, `core`, closing punctuation.
std::string WordPattern(const std::string& core) {
  return R"re(([("']*)()re" + core + R"re()('s|[.,;:!?)"']*)(?: |$))re";
}

// Matches text whose brackets are closed, nested up to this depth.
std::string Balanced(int depth) {
  const std::string brackets = depth == 0 ? "" : R"(|[(\[{])" + Balanced(depth - 1) + R"([)\]}])";
  return R"((?:[^()\[\]{}])" + brackets + ")*";
}

struct Word {
  re2::StringPiece open;
  re2::StringPiece core;
  re2::StringPiece close;

  Word(std::string_view text, const RE2& pattern) {
    re2::StringPiece whole(text.data(), text.size());
    RE2::Consume(&whole, pattern, &open, &core, &close);
  }
  std::string_view name() const { return {core.data(), core.size()}; }
  bool IsPunctuation() const { return name().find_first_not_of("./%-") == std::string_view::npos; }
  std::size_t size() const { return open.size() + core.size() + close.size(); }
};

// The first word of a text that starts with one. A name may contain blanks inside its brackets and quotes, or be an
// assignment: "x = f(y, z)".
Word FirstWord(std::string_view text) {
  static const std::string closed = R"((?:[^ ()\[\]{}"']|[(\[{])" + Balanced(3) + R"([)\]}]|"[^"]*"|'[^' ]*')*?)";
  static const RE2 plain(WordPattern(R"((?:[^ (),;:!?"'][^ ]*?)?|[^ ]+?)"), RE2::Latin1);
  static const RE2 call(WordPattern(R"((?:[^ ()\[\]{},;:!?"']|[\[{])" + Balanced(3) + R"([\]}]))" + closed),
                        RE2::Latin1);
  static const RE2 assignment(WordPattern("[A-Za-z0-9_]+ = [A-Za-z]" + closed), RE2::Latin1);
  const Word word(text, plain);
  if (text.substr(word.size()).starts_with(" = ")) {
    const Word assigned(text, assignment);
    if (assigned.size() > 0 && !IsWord(assigned.name().substr(assigned.name().find('=') + 2))) return assigned;
  }
  if (word.IsPunctuation() || IsWord(word.name())) return word;
  const Word called(text, call);
  return called.size() > 0 ? called : word;
}

void Add(std::string_view text, Span::Kind kind, Spans* spans) {
  if (text.empty()) return;
  if (spans->empty() || spans->back().kind != kind) spans->push_back({"", kind, ""});
  spans->back().text += text;
}

// Adds text without marks.
void AddWords(std::string_view text, Spans* spans) {
  using Kind = Span::Kind;
  static const RE2 list_mark("[0-9]*[.)]");
  while (!text.empty()) {
    const std::size_t blanks = std::min(text.find_first_not_of(' '), text.size());
    Add(text.substr(0, blanks), Kind::kText, spans);
    text.remove_prefix(blanks);
    if (text.empty()) return;
    const bool is_first = spans->empty();  // punctuation there could begin a list in Markdown: "-", "1.", "1)"
    const Word word = FirstWord(text);
    const std::string_view whole = text.substr(0, word.size());
    text.remove_prefix(word.size());
    if (word.IsPunctuation()) {
      Add(whole, is_first ? Kind::kCode : Kind::kText, spans);
    } else if (IsWord(word.name()) && !(is_first && RE2::FullMatch(whole, list_mark))) {
      Add(whole, Kind::kText, spans);
    } else {
      Add(whole.substr(0, word.open.size()), Kind::kText, spans);
      Add(word.name(), Kind::kCode, spans);
      Add(whole.substr(word.open.size() + word.name().size()), Kind::kText, spans);
    }
  }
}

}  // namespace

Spans Words(std::string text, Span::Kind kind) { return text.empty() ? Spans() : Spans{{std::move(text), kind, ""}}; }

Spans Sentence(std::string_view sentence, Span::Kind kind) {
  static const RE2 mark(R"((?:^|[ ("'])`([^`]*[^ `][^`]*)`)");
  const std::string text = CutBytes(Printable(sentence), kLongestSentence);
  std::string_view rest = text;
  rest.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  Spans spans;
  for (re2::StringPiece code; RE2::PartialMatch(rest, mark, &code);) {
    const auto begin = static_cast<std::size_t>(code.data() - rest.data());
    AddWords(rest.substr(0, begin - 1), &spans);
    Add({code.data(), code.size()}, Span::Kind::kCode, &spans);
    rest.remove_prefix(begin + code.size() + 1);
  }
  AddWords(rest, &spans);
  for (Span& span : spans) span.kind = span.kind == Span::Kind::kText ? kind : span.kind;
  return spans;
}

Spans Name(std::string_view text, std::size_t columns) {
  return Words(Shorten(Printable(text), columns), Span::Kind::kCode);
}

Spans Joined(const std::vector<Spans>& pieces, std::string_view between) {
  Spans joined;
  for (const Spans& piece : pieces) {
    if (piece.empty()) continue;
    if (!joined.empty() && !between.empty()) joined.push_back({std::string(between)});
    joined.insert(joined.end(), piece.begin(), piece.end());
  }
  return joined;
}

std::string PlainText(const Spans& spans) {
  std::string text;
  for (const Span& span : spans) text += span.text + (span.kind == Span::Kind::kLink ? ": " + Printable(span.url) : "");
  return text;
}

Item Step(Spans text) { return {.text = std::move(text), .label = Words("→")}; }
Item Warning(Spans text) { return {.text = std::move(text), .label = Words("warning:", Span::Kind::kCareful)}; }

Paragraph Inline(std::vector<Spans> texts, std::uint64_t left_out) {
  texts.push_back(LeftOut(left_out).text);
  return {Joined(texts, " · ")};
}

Paragraph LeftOut(std::uint64_t count) {
  return {Words(count == 0 ? "" : fmt::format("and {} more", count), Span::Kind::kFaint)};
}

Code CodeOf(std::string_view text, std::string language) {
  Code code{std::move(language), {}};
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    code.lines.push_back({Printable(line)});
  }
  return code;
}

void AddSection(Section section, Blocks* blocks) {
  std::erase_if(section.blocks, IsEmpty);
  for (Block& block : section.blocks) {
    if (auto* table = std::get_if<Table>(&block.content)) EraseEmptyColumns(table);
  }
  if (!section.blocks.empty()) blocks->emplace_back(std::move(section));
}

}  // namespace whyoom::doc
