#include "report/document.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/layout.h"
#include "report/phrases.h"
#include "text/utf8.h"

namespace whyoom::doc {
namespace {

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

}  // namespace

Spans Words(std::string text, Span::Kind kind) { return text.empty() ? Spans() : Spans{{std::move(text), kind, ""}}; }

Spans Sentence(std::string_view text, Span::Kind kind) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  Spans spans;
  for (Phrase& phrase : PhrasesOf(CutBytes(Printable(text), kLongestSentence)))
    spans.push_back({std::move(phrase.text), phrase.is_name ? Span::Kind::kCode : kind, ""});
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
