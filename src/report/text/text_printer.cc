#include "report/text/text_printer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/ci/brief.h"
#include "report/layout.h"
#include "report/report_document.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kItem = TextPage::kIndent + 3;  // column of content below a numbered title
constexpr std::size_t kLeast = 8;                     // columns; less would be unreadable
constexpr std::size_t kTableIndent = 2;
constexpr std::size_t kTableRows = 200;
constexpr std::size_t kSparkline = 40;    // columns
constexpr std::size_t kScreen = 23;       // lines of a terminal, without that of the next prompt
constexpr std::size_t kRoomForSpare = 2;  // lines that longer paragraphs get before spare sections do
constexpr std::size_t kFirstStep = 4;     // lines of the first remedy's step, which is what to type
constexpr std::size_t kSteps = 3;         // remedies on the screen whose steps are shown, if there is room

std::string InOneLine(const std::vector<doc::Spans>& facts) { return doc::PlainText(doc::Joined(facts, " · ")); }

// The style of a text: the style of its first words; nullptr if plain.
TextPage::Look LookOf(const doc::Spans& spans) {
  switch (spans.empty() ? doc::Span::Kind::kText : spans.front().kind) {
    case doc::Span::Kind::kStrong:
      return &Style::Strong;
    case doc::Span::Kind::kFaint:
      return &Style::Faint;
    case doc::Span::Kind::kGood:
      return &Style::Good;
    case doc::Span::Kind::kCareful:
      return &Style::Warning;
    case doc::Span::Kind::kBad:
      return &Style::Error;
    default:
      return nullptr;
  }
}

// Joins as many pieces as fit. Cuts the last one if enough of it remains visible.
std::string Fitted(const doc::Row& row, const std::vector<std::string>& pieces, bool is_cut_in_middle,
                   std::size_t columns) {
  std::string text;
  for (const std::string& piece : pieces) {
    const std::size_t room = columns - std::min(columns, DisplayWidth(text));
    const bool fits = DisplayWidth(piece) <= room;
    if (!text.empty() && !fits && (row.drops || room < kLeast)) break;
    if (!fits) return text + (is_cut_in_middle ? Shorten(piece, room) : Fit(piece, room));
    text += piece;
  }
  return text;
}

// One column per section of the program, as high as the memory in use.
std::string Sparkline(const TimelineView& timeline) {
  static constexpr const char* kHeights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t columns = std::min(timeline.bytes.size(), kSparkline);
  std::string line;
  for (std::size_t i = 0; i < columns; ++i) {
    const auto begin = timeline.bytes.begin() + static_cast<std::ptrdiff_t>(i * timeline.bytes.size() / columns);
    const auto end = timeline.bytes.begin() + static_cast<std::ptrdiff_t>((i + 1) * timeline.bytes.size() / columns);
    const double height = *std::max_element(begin, end) / timeline.most;
    line += kHeights[std::clamp<long>(std::lround(height * 8) - 1, 0, 7)];
  }
  return line;
}

// Aligns numbers right and words left.
std::string InColumn(const doc::Column& column, const std::string& text, std::size_t width) {
  if (column.kind == doc::Column::Kind::kNumber) return fmt::format("{:>{}}", text, width);
  return "  " + fmt::format("{:<{}}", text, width - 2);
}

// The columns of a table on the page.
struct TableLayout {
  std::vector<std::size_t> lead;  // before the text: numbers and bars
  std::vector<std::size_t> tail;  // after the text: words and numbers
  std::vector<std::size_t> text;
  std::vector<std::size_t> widths;  // of each column
  bool has_words = false;           // there is a kWord column; then texts are wrapped, not cut

  TableLayout(const doc::Table& table, bool all) : widths(table.columns.size()) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const doc::Column& column = table.columns[i];
      if (column.depth == doc::Depth::kMore && !all) continue;
      const bool is_text = column.kind == doc::Column::Kind::kText || column.kind == doc::Column::Kind::kSwatch;
      const bool is_word = column.kind == doc::Column::Kind::kWord;
      const bool is_number = is_word || column.kind == doc::Column::Kind::kNumber;
      has_words = has_words || is_word;
      const std::size_t gap = is_number && !text.empty() ? 2 : 0;
      widths[i] = column.width;
      if (is_number) {
        for (const doc::Row& row : table.rows)
          widths[i] = std::max(widths[i], DisplayWidth(doc::PlainText(row.cells[i].text)) + gap);
      }
      if (is_number && !text.empty()) {
        widths[i] = std::max(widths[i], DisplayWidth(column.title) + 2);
        tail.push_back(i);
      } else if (column.kind != doc::Column::Kind::kText) {
        lead.push_back(i);
      }
      if (is_text) text.push_back(i);
    }
  }
};

class TextRenderer {
 public:
  explicit TextRenderer(const TextOptions& options) : page_(options), all_(options.detail == Detail::kAll) {}

  doc::Pass pass() const { return all_ ? doc::Pass::kAll : doc::Pass::kBrief; }
  void Add(doc::Blocks blocks) { Visit(doc::Select(std::move(blocks), pass(), doc::Drawings::kDropped)); }
  void AddReport(const Report& report, bool notes);
  // Adds a failure on at most one screen, unless everything is to be shown.
  void AddFailure(const doc::Part& part);
  std::string Take() { return WithoutCommands(page_.Take()); }

  void operator()(const doc::Verdict& verdict);
  void operator()(const doc::Heading& heading);
  void operator()(const doc::Section& section);
  void operator()(const doc::Paragraph& paragraph) {
    if (is_page_ && !in_section_) page_.Blank();
    Emit(doc::PlainText(paragraph.text), LookOf(paragraph.text));
  }
  void operator()(const doc::Facts& facts) {
    page_.Whole(InOneLine(facts.facts), column_, facts.facts.empty() ? nullptr : LookOf(facts.facts.back()));
  }
  void operator()(const doc::List& list);
  void operator()(const doc::Table& table);
  void operator()(const doc::NeedBar& /*bar*/) {}
  void operator()(const doc::MemoryBar& /*bar*/) {}
  void operator()(const doc::Timeline& timeline);
  void operator()(const doc::TimesChart& /*chart*/) {}
  void operator()(const doc::Command& command);
  void operator()(const doc::Code& code);
  void operator()(const doc::Pre& pre) { Emit(pre.text); }

 private:
  void Visit(const doc::Blocks& blocks) {
    for (const doc::Block& block : blocks) std::visit(*this, block.content);
  }
  // Prints a paragraph, next to the label if one is pending.
  void Emit(const std::string& text, TextPage::Look look = nullptr);
  void AddFirstRemedy(const Failure& failure);
  void AddNumbered(const doc::List& list);
  void AddShortItem(const doc::Item& item, bool with_steps);
  void AddFields(const doc::List& list);
  void AddBelow(const doc::Section& section);
  void AddRow(const doc::Table& table, const TableLayout& layout, const doc::Row& row);
  void AddLeftOut(std::uint64_t left_out, const std::string& elsewhere, std::size_t column);

  TextPage page_;
  const bool all_;
  std::size_t column_ = 0;
  std::string label_;
  bool is_weighty_ = false;  // Section::weighty
  bool after_items_ = false;
  bool in_section_ = false;
  bool has_spare_ = true;                // spare sections are shown
  std::size_t steps_ = kSteps;           // remedies whose steps are shown
  std::size_t first_step_ = kFirstStep;  // lines of the first one's step
  bool is_page_ = false;                 // a page of its own: Verdict::level is 0
};

void TextRenderer::Emit(const std::string& text, TextPage::Look look) {
  if (column_ == TextPage::kIndent) {
    page_.Beside(std::exchange(label_, ""), text, is_weighty_ ? 2 : 1);
  } else {
    page_.Paragraph(text, column_, look);
  }
}

void TextRenderer::operator()(const doc::Verdict& verdict) {
  is_page_ = verdict.level == 0;
  const std::string title = doc::PlainText(verdict.title);
  if (verdict.code.empty()) {
    const TextPage::Look look = LookOf(verdict.title);
    page_.Paragraph(title, 0, look == nullptr ? &Style::Strong : look);
  } else {
    page_.Title(verdict.code, title);
  }
  const std::size_t column = verdict.code.empty() ? 0 : DisplayWidth(verdict.code) + 2;
  // The first note states the need; long lists of contradictions may be cut.
  for (std::size_t i = 0; i < verdict.notes.size(); ++i) {
    const std::string note = doc::PlainText(verdict.notes[i]);
    i == 0 ? page_.Whole(note, column) : page_.Paragraph(note, column);
  }
  if (const std::string facts = InOneLine(verdict.facts); !facts.empty()) page_.Whole(facts);
}

void TextRenderer::operator()(const doc::Heading& heading) {
  page_.Line(page_.style().Strong(heading.text));
  if (!is_page_) page_.Blank();
}

// Prints a section inside a section, indented.
void TextRenderer::AddBelow(const doc::Section& section) {
  if (!section.follows) page_.Blank();
  page_.Paragraph(section.title, column_, &Style::Strong);
  column_ += kTableIndent;
  Visit(section.blocks);
  column_ -= kTableIndent;
}

void TextRenderer::operator()(const doc::Section& section) {
  if (in_section_) return AddBelow(section);
  if (section.spare && !has_spare_) return;
  if (!page_.empty() && (std::exchange(after_items_, false) || !section.follows || is_page_)) page_.Blank();
  if (section.label.empty()) (*this)(doc::Heading{section.title});
  label_ = section.label;
  is_weighty_ = section.weighty;
  column_ = !section.label.empty() ? TextPage::kIndent : is_page_ ? kTableIndent : 0;
  in_section_ = true;
  Visit(section.blocks);
  in_section_ = is_weighty_ = false;
  label_.clear();
  column_ = 0;
}

void TextRenderer::AddLeftOut(std::uint64_t left_out, const std::string& elsewhere, std::size_t column) {
  if (left_out > 0) page_.Paragraph(fmt::format("and {} more{}", left_out, elsewhere), column, &Style::Faint);
}

void TextRenderer::AddNumbered(const doc::List& list) {
  if (page_.is_cut()) {
    page_.SetLabel(std::exchange(label_, ""));
  } else if (!label_.empty()) {
    page_.Line(page_.style().Label(std::exchange(label_, "")));
  }
  const std::size_t outer = std::exchange(column_, kItem);
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const doc::Item& item = list.items[i];
    if (page_.is_cut()) {
      page_.SetStepLines(i == 0 ? first_step_ : 1);
      AddShortItem(item, i < steps_);
      continue;
    }
    if (i > 0) page_.Blank();
    const std::string number = fmt::format("{:<3}", item.number);
    const std::string title = doc::PlainText(item.text);
    const bool fits = kItem + DisplayWidth(title) + 2 + DisplayWidth(item.id) <= page_.width();
    const std::string id = page_.style().Faint(item.id);  // valid as a topic of `whyoom explain`
    page_.IndentedLine(page_.style().Strong(number) + page_.style().Strong(title) + (fits ? "  " + id : ""));
    if (!fits) page_.Line(std::string(kItem, ' ') + id);
    Visit(item.blocks);
  }
  after_items_ = !page_.is_cut();
  column_ = outer;
}

// A numbered item without its id. Its effect is in the same line if there is room.
void TextRenderer::AddShortItem(const doc::Item& item, bool with_steps) {
  const Style& style = page_.style();
  const std::string title = fmt::format("{:<3}", item.number) + doc::PlainText(item.text);
  const auto* facts = item.blocks.empty() ? nullptr : std::get_if<doc::Facts>(&item.blocks.front().content);
  const std::string effect = facts == nullptr ? "" : InOneLine(facts->facts);
  if (effect.empty() || TextPage::kIndent + DisplayWidth(title) + 2 + DisplayWidth(effect) > page_.width()) {
    page_.IndentedLine(style.Strong(title));
    if (facts != nullptr) (*this)(*facts);
  } else {
    const TextPage::Look look = LookOf(facts->facts.back());
    page_.IndentedLine(style.Strong(title) + "  " + (look == nullptr ? effect : (style.*look)(effect)));
  }
  for (std::size_t i = facts == nullptr ? 0 : 1; with_steps && i < item.blocks.size(); ++i)
    std::visit(*this, item.blocks[i].content);
}

void TextRenderer::AddFields(const doc::List& list) {
  if (is_page_ && !in_section_) page_.Blank();
  std::size_t width = 0;
  for (const doc::Item& item : list.items) width = std::max(width, DisplayWidth(doc::PlainText(item.label)));
  const std::size_t outer = column_;
  const std::string blanks(outer, ' ');
  for (const doc::Item& item : list.items) {
    page_.Item(blanks + doc::PlainText(item.label), outer + width + 2, doc::PlainText(item.text));
    column_ = outer + kTableIndent;
    Visit(item.blocks);
    column_ = outer;
  }
}

void TextRenderer::operator()(const doc::List& list) {
  using Style = doc::List::Style;
  if (list.style == Style::kNumbered) return AddNumbered(list);
  if (list.style == Style::kFields) return AddFields(list);
  if (list.style == Style::kJoined) {
    std::vector<doc::Spans> texts;
    for (const doc::Item& item : list.items) texts.push_back(item.text);
    if (list.left_out > 0) texts.push_back(doc::Words(fmt::format("and {} more", list.left_out)));
    return Emit(list.lead + InOneLine(texts));
  }
  for (const doc::Item& item : list.items) {
    const std::string text = doc::PlainText(item.text) + (item.id.empty() ? "" : "  " + item.id);
    if (list.style == Style::kSteps) {
      page_.Step(column_, text, list.whole);
    } else if (list.style == Style::kWarnings) {
      page_.Warning(text);
    } else {
      Emit(text);
    }
    column_ += kTableIndent;
    Visit(item.blocks);
    column_ -= kTableIndent;
  }
  AddLeftOut(list.left_out, list.elsewhere, 0);
}

void TextRenderer::operator()(const doc::Table& table) {
  const TableLayout layout(table, all_);
  const std::string label = page_.style().Label(label_);
  if (!layout.tail.empty()) {
    std::string titles;
    for (const std::size_t at : layout.tail)
      titles += InColumn(table.columns[at], table.columns[at].title, layout.widths[at]);
    const std::size_t used = DisplayWidth(label_) + DisplayWidth(titles);
    titles.erase(titles.find_last_not_of(' ') + 1);
    page_.Line(label + std::string(page_.width() - std::min(page_.width(), used), ' ') + page_.style().Faint(titles));
  } else if (!label_.empty() && DisplayWidth(label_) >= TextPage::kIndent) {
    page_.Line(label);
  } else if (page_.is_cut()) {
    page_.SetLabel(label_);  // beside the first row
  } else if (!table.caption.empty()) {
    Emit(table.caption);
  }
  if (!layout.tail.empty() || DisplayWidth(label_) >= TextPage::kIndent) column_ = kTableIndent;
  const bool is_captioned_below = DisplayWidth(label_) >= TextPage::kIndent && !table.caption.empty();
  label_.clear();
  const std::size_t shown = std::min(table.rows.size(), kTableRows);
  for (std::size_t i = 0; i < shown; ++i) AddRow(table, layout, table.rows[i]);
  AddLeftOut(table.left_out + table.rows.size() - shown, table.elsewhere, column_);
  if (is_captioned_below) page_.Paragraph(table.caption, column_, &Style::Faint);
}

void TextRenderer::AddRow(const doc::Table& table, const TableLayout& layout, const doc::Row& row) {
  const bool is_beside = column_ == TextPage::kIndent;
  std::string lead(is_beside ? 0 : column_, ' ');
  std::size_t lead_width = column_;
  for (const std::size_t at : layout.lead) {
    if (table.columns[at].kind == doc::Column::Kind::kNumber) {
      const std::string number = doc::PlainText(row.cells[at].text);
      lead += std::string(layout.widths[at] - DisplayWidth(number), ' ') + number + "  ";
    } else {
      double bytes = 0;
      for (const doc::BarPart& part : row.cells[at].bar) bytes += part.bytes;
      lead += page_.style().Good(Bar(bytes, table.scale.whole, layout.widths[at])) + "  ";
    }
    lead_width += layout.widths[at] + 2;
  }
  std::string tail;
  for (const std::size_t at : layout.tail)
    tail += InColumn(table.columns[at], doc::PlainText(row.cells[at].text), layout.widths[at]);
  std::vector<std::string> pieces = row.brief;
  if (pieces.empty()) {
    for (const std::size_t at : layout.text) {
      const std::string text = doc::PlainText(row.cells[at].text);
      if (!text.empty()) pieces.push_back((pieces.empty() ? "" : "  ") + text);
    }
  }
  const std::size_t used = lead_width + DisplayWidth(tail);
  const std::size_t room = page_.width() > used + kLeast ? page_.width() - used : kLeast;
  std::vector<std::string> lines = {Fitted(row, pieces, tail.empty(), room)};
  if (all_ || layout.has_words) lines = Wrap(fmt::format("{}", fmt::join(pieces, "")), room);
  tail.erase(tail.find_last_not_of(' ') + 1);
  const TextPage::Look look = layout.text.empty() ? nullptr : LookOf(row.cells[layout.text.front()].text);
  if (look != nullptr && tail.empty()) lines[0] = (page_.style().*look)(lines[0]);
  const std::string line = lead + (tail.empty() ? lines[0] : Fit(lines[0], room) + tail);
  is_beside ? page_.IndentedLine(line) : page_.Line(line);
  for (std::size_t i = 1; i < lines.size(); ++i) page_.Line(std::string(lead_width, ' ') + lines[i]);
  for (const std::string& below : row.below) {
    if (!below.empty())
      page_.Line(std::string(column_, ' ') + page_.style().Faint(Shorten(below, page_.width() - column_)));
  }
}

void TextRenderer::operator()(const doc::Timeline& timeline) {
  if (page_.width() < TextPage::kIndent + kSparkline + 20) return;
  const std::string line = Sparkline(timeline.view);
  const std::size_t room = page_.width() - TextPage::kIndent - DisplayWidth(line) - 2;
  page_.IndentedLine(
      page_.style().Good(line) + "  " +
      Shorten(fmt::format("peak at {:.0f} %: {}", 100 * timeline.view.most_at, SizeText(timeline.view.most)), room));
}

// Never wrapped, because a broken command cannot be copied; the terminal wraps it if necessary.
void TextRenderer::operator()(const doc::Command& command) {
  if (label_.empty()) return page_.Line("→ " + command.command);
  const std::string purpose = doc::PlainText(command.behind);
  std::string both = command.command + (command.url.empty() ? "" : " · " + command.url);
  if (TextPage::kIndent + DisplayWidth(both) + 3 + DisplayWidth(purpose) <= page_.width() && !purpose.empty())
    both += " · " + purpose;
  const bool fit = TextPage::kIndent + DisplayWidth(both) <= page_.width();
  const std::string blanks(TextPage::kIndent - std::min(TextPage::kIndent, DisplayWidth(label_)), ' ');
  page_.Line(page_.style().Label(std::exchange(label_, "")) + blanks + (fit ? both : command.command));
  if (!fit && !command.url.empty()) page_.IndentedLine(command.url);
}

// Never wrapped, so that it can be copied; changed lines are coloured.
void TextRenderer::operator()(const doc::Code& code) {
  if (!code.caption.empty()) page_.Paragraph(code.caption, column_);
  const std::string blanks(column_ + kTableIndent, ' ');
  for (const doc::CodeLine& line : code.lines) {
    const std::size_t room = page_.width() - std::min(page_.width(), blanks.size());
    const std::string text =
        page_.is_cut() ? Fit(line.text, std::min(room, DisplayWidth(line.text))) : Printable(line.text);
    const Style& style = page_.style();
    page_.Line(text.empty() ? ""
                            : blanks + (!line.changed ? text
                                        : code.after  ? style.Good(text)
                                                      : style.Warning(text)));
  }
}

void TextRenderer::AddFailure(const doc::Part& part) {
  const doc::Blocks blocks = part.make(pass());
  if (all_) return Add(blocks);
  const TextPage before = page_;
  const auto add = [&](std::size_t spare_lines) {
    page_ = before;
    page_.CutTo(spare_lines);
    Add(blocks);
    AddFirstRemedy(*part.failure);
    page_.CutTo(std::nullopt);
    return page_.lines() - before.lines();
  };
  has_spare_ = true;
  steps_ = kSteps;
  first_step_ = kFirstStep;
  std::size_t used = add(0);
  if (used + kRoomForSpare > kScreen) {
    has_spare_ = false;
    used = add(0);
  }
  while (used > kScreen && steps_ + first_step_ > 2) {
    --(steps_ > 1 ? steps_ : first_step_);
    used = add(0);
  }
  if (used < kScreen) add(kScreen - used);
}

void TextRenderer::AddFirstRemedy(const Failure& failure) {
  const Remedy* first = FirstRemedy(failure);
  if (first == nullptr) return;
  const Style& style = page_.style();
  const std::string hint = "  (--all shows everything)";
  const bool fits = TextPage::kIndent + DisplayWidth(first->title) + hint.size() <= page_.width();
  page_.SetLabel("first");
  page_.IndentedLine(style.Strong(first->title) + (fits ? style.Faint(hint) : ""));
}

void TextRenderer::AddReport(const Report& report, bool notes) {
  doc::Document document = MakeDocument(report);
  const bool none = document.failures.empty();
  if (notes || !none) Add(std::move(document.head));
  std::size_t whole = 0;
  for (const doc::Part& part : document.failures) {
    if (part.depth == doc::Depth::kMore && !all_) break;
    page_.Rule();
    AddFailure(part);
    ++whole;
  }
  if (whole < document.failures.size()) {
    page_.Rule();
    Add(std::move(document.table));
  }
  Add(std::move(document.remedies));
  if (!document.programs.empty() && !none) page_.Rule();
  for (std::size_t i = 0; i < document.programs.size(); ++i) {
    if (!page_.empty() && (none || i > 0)) page_.Blank();
    Add(document.programs[i].make(pass()));
  }
  if (!notes) return;
  Add(std::move(document.notes));
}

}  // namespace

std::string PrintText(const Report& report, const TextOptions& options) {
  if (options.detail == Detail::kBrief) return WithoutCommands(PrintBriefLines(report, options));
  TextRenderer renderer(options);
  renderer.AddReport(report, options.notes);
  return renderer.Take();
}

std::string PrintFailure(const Failure& failure) {
  return PrintBlocks(FailureBlocks(failure, false, doc::Pass::kBrief), TextOptions());
}

std::string PrintBlocks(doc::Blocks blocks, const TextOptions& options) {
  TextRenderer renderer(options);
  renderer.Add(std::move(blocks));
  return renderer.Take();
}

}  // namespace whyoom
