#include "report/document.h"

#include <algorithm>

#include "report/layout.h"
#include "report/phrases.h"
#include "text/utf8.h"

namespace whyoom::doc {
namespace {

constexpr std::size_t kLongestSentence = 2000;  // bytes

bool IsKept(Depth depth, Pass pass) {
  if (pass == Pass::kRest) return depth == Depth::kMore;
  return depth != (pass == Pass::kBrief ? Depth::kMore : Depth::kBrief);
}

bool IsEmpty(const Block& block) {
  if (const auto* paragraph = std::get_if<Paragraph>(&block.content)) return paragraph->text.empty();
  if (const auto* list = std::get_if<List>(&block.content)) return list->items.empty();
  return false;
}

// kRest keeps the whole content of kMore elements.
Pass Below(Depth depth, Pass pass) { return pass == Pass::kRest && depth == Depth::kMore ? Pass::kAll : pass; }

void SelectItems(List* list, Pass pass, Drawings drawings) {
  std::vector<Item> kept;
  for (Item& item : list->items) {
    item.blocks = Select(std::move(item.blocks), Below(item.depth, pass), drawings);
    if (IsKept(item.depth, pass) || (pass == Pass::kRest && !item.blocks.empty())) kept.push_back(std::move(item));
  }
  if (pass == Pass::kBrief && list->style == List::Style::kJoined) list->left_out += list->items.size() - kept.size();
  list->items = std::move(kept);
}

// Returns false if the block is to be removed.
bool SelectIn(Block* block, Pass pass, Drawings drawings) {
  const Pass below = Below(block->depth, pass);
  if (auto* section = std::get_if<Section>(&block->content)) {
    if (below != Pass::kRest && !IsKept(block->depth, pass)) return false;
    section->blocks = Select(std::move(section->blocks), below, drawings);
    return !section->blocks.empty();
  }
  if (auto* list = std::get_if<List>(&block->content)) {
    if (below != Pass::kRest && !IsKept(block->depth, pass)) return false;
    SelectItems(list, below, drawings);
    return !list->items.empty();
  }
  const bool is_drawing = std::holds_alternative<MemoryBar>(block->content) ||
                          std::holds_alternative<NeedBar>(block->content) ||
                          std::holds_alternative<TimesChart>(block->content);
  if (is_drawing && drawings == Drawings::kDropped) return false;
  bool keeps_more = false;  // kRest keeps all rows of a table that kBrief shortens
  if (auto* table = std::get_if<Table>(&block->content)) {
    const auto is_more = [](const Row& row) { return row.depth == Depth::kMore; };
    keeps_more = pass == Pass::kRest && std::any_of(table->rows.begin(), table->rows.end(), is_more);
    const Pass of_rows = pass == Pass::kRest ? Pass::kAll : pass;
    std::erase_if(table->rows, [&](const Row& row) { return !IsKept(row.depth, of_rows); });
  }
  return keeps_more || IsKept(block->depth, pass);
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

void AddSection(Section section, Depth depth, Blocks* blocks) {
  std::erase_if(section.blocks, IsEmpty);
  if (!section.blocks.empty()) blocks->emplace_back(std::move(section), depth);
}

Blocks Select(Blocks blocks, Pass pass, Drawings drawings) {
  std::erase_if(blocks, [&](Block& block) { return !SelectIn(&block, pass, drawings); });
  return blocks;
}

}  // namespace whyoom::doc
