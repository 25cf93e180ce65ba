#include "report/text/text_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "report/layout.h"
#include "report/report_document.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using Kind = doc::Span::Kind;

constexpr std::size_t kLabel = 6;       // columns of a short title and the blanks after it: "why   "
constexpr std::size_t kNarrowest = 40;  // columns; a narrower page would be unreadable
constexpr std::size_t kLeast = 12;      // columns of text
constexpr std::size_t kBelow = 2;       // indentation of content below a title
constexpr std::size_t kGap = 2;         // columns between the cells of a table
constexpr std::size_t kTableRows = 200;
constexpr std::size_t kFewRows = 5;
constexpr std::size_t kAroundTable = 7;  // lines on a screen: rule, titles, how many more, a prompt

// From the most that a large terminal shows to the least; the second is the usual one.
constexpr doc::Extent kExtents[] = {{4, 3, 3}, {2, 3, 3}, {2, 3, 2}, {2, 3, 1}, {1, 3, 1}, {1, 2, 1}, {1, 1, 1}};
constexpr doc::Extent kUsual = kExtents[1];
constexpr doc::Extent kHeadline = {.reasons = 0, .remedies = 1, .steps = 0, .is_headline = true};
constexpr doc::Extent kWhole = {.reasons = 1000, .remedies = 3, .steps = 3, .is_whole = true};

doc::Table WithoutEmptyColumns(doc::Table table) {
  for (std::size_t i = table.columns.size(); i-- > 0;) {
    const auto is_empty = [&](const std::vector<doc::Spans>& row) { return row[i].empty(); };
    if (!std::all_of(table.rows.begin(), table.rows.end(), is_empty)) continue;
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(i));
    for (std::vector<doc::Spans>& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return table;
}

// The rows of a terminal that the lines fill.
std::size_t RowsOf(std::string_view text, std::size_t width) {
  std::size_t rows = 0;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    rows += std::max<std::size_t>(1, (DisplayWidth(text.substr(0, end)) + width - 1) / width);
    text.remove_prefix(end + 1);
  }
  return rows;
}

class TextRenderer {
 public:
  explicit TextRenderer(const TextOptions& options) : options_(options) {
    options_.width = std::max(options_.width, kNarrowest);
  }

  void Add(const doc::Blocks& blocks) {
    for (const doc::Block& block : blocks) std::visit(*this, block.content);
  }
  void AddReport(const Report& report);
  std::string Take() { return WithoutCommands(std::move(out_)); }

  void operator()(const doc::Verdict& verdict);
  void operator()(const doc::Section& section);
  void operator()(const doc::Paragraph& paragraph) { Print(paragraph.text); }
  void operator()(const doc::List& list);
  void operator()(const doc::Table& table);
  void operator()(const doc::Command& command);
  void operator()(const doc::Code& code);

 private:
  enum class Look { kPlain, kStrong, kFaint, kGood, kCareful, kBad, kLabel };

  std::string Styled(std::string_view text, Look look) const;
  static Look LookOf(const doc::Spans& spans);

  // Starts a line with the pending lead, or with blanks.
  void Begin();
  // Prints a line that is never wrapped.
  void PrintLine(std::string_view text, Look look = Look::kPlain);
  // Prints a paragraph.
  void Print(std::string_view text, Look look = Look::kPlain);
  void Print(const doc::Spans& spans) { Print(doc::PlainText(spans), LookOf(spans)); }
  // The next line begins with `text`, and what follows is indented by `columns` more.
  void Lead(std::string_view text, std::size_t columns, Look look);
  void Blank() {
    if (!out_.empty() && !out_.ends_with("\n\n")) out_ += '\n';
  }
  void Rule();
  void AddFailure(const Failure& failure);
  void AddLeftOut(std::uint64_t left_out) {
    if (left_out > 0) Print(fmt::format("and {} more", left_out), Look::kFaint);
  }
  void AddItem(const doc::List& list, const doc::Item& item, std::size_t label_width);
  std::vector<std::size_t> WidthsOf(const doc::Table& table) const;
  void AddRow(const doc::Table& table, const std::vector<std::size_t>& widths, const std::vector<std::string>& cells,
              Look look);

  TextOptions options_;
  std::string out_;
  std::size_t table_rows_ = kTableRows;
  std::size_t indent_ = 0;
  std::string lead_;            // styled
  std::size_t lead_width_ = 0;  // columns
  bool is_page_ = false;        // Verdict::level is 0
  bool is_compact_ = false;     // the last section has one paragraph next to its title
};

std::string TextRenderer::Styled(std::string_view text, Look look) const {
  static constexpr const char* kCodes[] = {"", "1", "2", "32", "33", "1;31", "1;36"};
  if (!options_.colour || text.empty() || look == Look::kPlain) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<std::size_t>(look)], text);
}

TextRenderer::Look TextRenderer::LookOf(const doc::Spans& spans) {
  switch (spans.empty() ? Kind::kText : spans.front().kind) {
    case Kind::kFaint:
      return Look::kFaint;
    case Kind::kGood:
      return Look::kGood;
    case Kind::kCareful:
      return Look::kCareful;
    case Kind::kBad:
      return Look::kBad;
    default:
      return Look::kPlain;
  }
}

void TextRenderer::Begin() {
  out_ += lead_;
  out_.append(indent_ - std::min(indent_, lead_width_), ' ');
  lead_.clear();
  lead_width_ = 0;
}

void TextRenderer::PrintLine(std::string_view text, Look look) {
  if (text.empty() && lead_.empty()) return void(out_ += '\n');
  Begin();
  out_ += Styled(text, look);
  out_ += '\n';
}

void TextRenderer::Print(std::string_view text, Look look) {
  const std::size_t room = options_.width > indent_ + kLeast ? options_.width - indent_ : kLeast;
  for (const std::string& line : Wrap(text, room)) PrintLine(line, look);
}

void TextRenderer::Lead(std::string_view text, std::size_t columns, Look look) {
  if (lead_width_ < indent_) lead_.append(indent_ - lead_width_, ' ');
  lead_ += Styled(text, look);
  lead_width_ = indent_ + DisplayWidth(text);
  indent_ += columns;
}

void TextRenderer::Rule() {
  if (out_.empty()) return;
  std::string rule;
  for (std::size_t i = 0; i < options_.width; ++i) rule += "─";
  Blank();
  PrintLine(rule, Look::kFaint);
  Blank();
}

void TextRenderer::operator()(const doc::Verdict& verdict) {
  is_page_ = verdict.level == 0;
  is_compact_ = false;
  const std::size_t columns = verdict.code.empty() ? 0 : DisplayWidth(verdict.code) + 2;
  Lead(verdict.code, columns, Look::kBad);
  const Look look = LookOf(verdict.title);
  Print(doc::PlainText(verdict.title), look == Look::kPlain ? Look::kStrong : look);
  for (const doc::Spans& note : verdict.notes) Print(note);
  indent_ -= columns;
  if (const doc::Spans facts = doc::Joined(verdict.facts, " · "); !facts.empty()) Print(doc::PlainText(facts));
}

// A short title stands next to the content, a longer one above it.
void TextRenderer::operator()(const doc::Section& section) {
  const bool is_beside = indent_ == 0 && DisplayWidth(section.title) < kLabel && !section.title.empty();
  const auto* list = std::get_if<doc::List>(&section.blocks.front().content);
  const bool is_compact = is_beside && section.blocks.size() == 1 &&
                          (list != nullptr ? list->style != doc::List::Style::kNumbered
                                           : !std::holds_alternative<doc::Table>(section.blocks.front().content));
  if (!(std::exchange(is_compact_, is_compact) && is_compact)) Blank();
  std::size_t columns = 0;
  if (is_beside) {
    columns = kLabel;
    Lead(section.title, columns, Look::kLabel);
  } else if (!section.title.empty()) {
    Print(section.title, indent_ == 0 ? Look::kLabel : Look::kStrong);
    indent_ += columns = kBelow;
  }
  Add(section.blocks);
  indent_ -= columns;
}

void TextRenderer::AddItem(const doc::List& list, const doc::Item& item, std::size_t label_width) {
  using Style = doc::List::Style;
  const std::size_t outer = indent_;
  Look look = LookOf(item.text);
  switch (list.style) {
    case Style::kSteps:
      Lead("→ ", 2, Look::kPlain);
      break;
    case Style::kWarnings:
      Lead("warning: ", 9, Look::kCareful);
      break;
    case Style::kFields:
      Lead(doc::PlainText(item.label), label_width + kGap, Look::kStrong);
      break;
    case Style::kNumbered:
      Lead(fmt::format("{}", item.number), 3, Look::kStrong);
      look = Look::kStrong;
      break;
    default:
      break;
  }
  Print(doc::PlainText(item.text) + (item.id.empty() ? "" : " (" + item.id + ")"), look);
  if (list.style != Style::kNumbered) indent_ = outer + kBelow;
  Add(item.blocks);
  indent_ = outer;
}

void TextRenderer::operator()(const doc::List& list) {
  using Style = doc::List::Style;
  if (list.style == Style::kInline) {
    std::vector<doc::Spans> texts;
    for (const doc::Item& item : list.items) texts.push_back(item.text);
    if (list.left_out > 0) texts.push_back(doc::Words(fmt::format("and {} more", list.left_out)));
    return Print(doc::PlainText(doc::Joined(texts, " · ")));
  }
  if (list.style == Style::kFields && is_page_ && indent_ == 0) Blank();
  std::size_t label_width = 0;
  for (const doc::Item& item : list.items)
    label_width = std::max(label_width, DisplayWidth(doc::PlainText(item.label)));
  for (const doc::Item& item : list.items) AddItem(list, item, label_width);
  if (list.style != Style::kNumbered) return AddLeftOut(list.left_out);
  const char* others = list.left_out == 1 ? "other" : "others";
  const bool follow = options_.detail == Detail::kAll;
  if (list.left_out > 0 && !follow) Print(fmt::format("{} {}: --all", list.left_out, others), Look::kFaint);
}

// The columns share the width. The widest one with words becomes narrower until all fit.
std::vector<std::size_t> TextRenderer::WidthsOf(const doc::Table& table) const {
  std::vector<std::size_t> widths;
  for (const doc::Column& column : table.columns) widths.push_back(DisplayWidth(column.title));
  std::size_t all = indent_ + kGap * (widths.size() - 1);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    for (const std::vector<doc::Spans>& row : table.rows)
      widths[i] = std::max(widths[i], DisplayWidth(doc::PlainText(row[i])));
    all += widths[i];
  }
  for (; all > options_.width; --all) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool can_shrink = !table.columns[i].is_number && widths[i] > kLeast;
      if (can_shrink && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    }
    if (widest == widths.size()) break;
    --widths[widest];
  }
  return widths;
}

// Wraps the cells in their columns. Only on a terminal, cuts words that are too wide in the middle.
void TextRenderer::AddRow(const doc::Table& table, const std::vector<std::size_t>& widths,
                          const std::vector<std::string>& cells, Look look) {
  std::vector<std::vector<std::string>> lines;
  std::size_t most = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    lines.push_back(Wrap(cells[i], widths[i]));
    most = std::max(most, lines.back().size());
  }
  for (std::size_t at = 0; at < most; ++at) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      std::string cell = at < lines[i].size() ? lines[i][at] : "";
      if (options_.rows > 0) cell = Shorten(cell, widths[i]);
      const std::string blanks(widths[i] - std::min(widths[i], DisplayWidth(cell)), ' ');
      text += (i == 0 ? "" : "  ") + (table.columns[i].is_number ? blanks + cell : cell + blanks);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    PrintLine(text, look);
  }
}

void TextRenderer::operator()(const doc::Table& whole) {
  const doc::Table table = WithoutEmptyColumns(whole);
  const std::vector<std::size_t> widths = WidthsOf(table);
  std::vector<std::string> cells;
  for (const doc::Column& column : table.columns) cells.push_back(column.title);
  AddRow(table, widths, cells, Look::kFaint);
  const std::size_t shown = std::min(table.rows.size(), table_rows_);
  for (std::size_t i = 0; i < shown; ++i) {
    cells.clear();
    for (const doc::Spans& cell : table.rows[i]) cells.push_back(doc::PlainText(cell));
    AddRow(table, widths, cells, Look::kPlain);
  }
  AddLeftOut(table.left_out + table.rows.size() - shown);
}

// Never wrapped, because a broken command cannot be copied; the terminal wraps it if necessary.
void TextRenderer::operator()(const doc::Command& command) {
  const std::string behind = doc::PlainText(command.behind);
  const std::string both = command.command + " · " + behind;
  const bool fits = indent_ + DisplayWidth(both) <= options_.width;
  PrintLine(fits && !behind.empty() ? both : command.command);
  if (!fits && !behind.empty()) Print(behind, Look::kFaint);
}

void TextRenderer::operator()(const doc::Code& code) {
  if (indent_ == 0) Blank();
  is_compact_ = false;
  if (!code.caption.empty()) Print(code.caption);
  for (const doc::CodeLine& line : code.lines) {
    const Look look = line.kind == doc::CodeLine::Kind::kAdded     ? Look::kGood
                      : line.kind == doc::CodeLine::Kind::kRemoved ? Look::kCareful
                                                                   : Look::kPlain;
    const bool is_source = code.language == "python";
    const std::size_t room = std::max(options_.width - std::min(indent_, options_.width), kNarrowest);
    PrintLine(is_source && options_.rows > 0 ? Shorten(Printable(line.text), room) : Printable(line.text), look);
  }
}

// A single failure fits the terminal, if that is possible without cutting a text.
void TextRenderer::AddFailure(const Failure& failure) {
  if (options_.detail == Detail::kBrief) return Add(FirstBlocks(failure, kHeadline));
  if (options_.detail == Detail::kAll) {
    Add(FirstBlocks(failure, kWhole));
    return Add(MoreBlocks(failure, kWhole));
  }
  if (options_.rows == 0) return Add(FirstBlocks(failure, kUsual));
  const auto fits = [&](const doc::Extent& extent) {
    TextRenderer trial({.width = options_.width, .rows = options_.rows});
    trial.Add(FirstBlocks(failure, extent));
    return RowsOf(trial.out_, options_.width) < options_.rows;
  };
  Add(FirstBlocks(failure, *std::find_if(std::begin(kExtents), std::end(kExtents) - 1, fits)));
}

void TextRenderer::AddReport(const Report& report) {
  const ReportDocument document = MakeDocument(report);
  const bool is_brief = options_.detail == Detail::kBrief;
  const bool none = document.failures.empty();
  const bool is_large = document.whole < document.failures.size();
  const bool is_screen = options_.rows > 0 && options_.detail == Detail::kUsual;
  if (none ? options_.notes : !is_brief || is_large) Add(document.head);
  std::size_t whole = document.whole;
  if (is_large && (is_brief || is_screen)) whole = 0;
  if (options_.detail == Detail::kAll) whole = document.failures.size();
  for (std::size_t i = 0; i < whole; ++i) {
    is_brief ? Blank() : Rule();
    AddFailure(*document.failures[i]);
  }
  if (whole < document.failures.size() && !is_brief) {
    if (is_screen)
      table_rows_ =
          std::max(kFewRows, options_.rows - std::min(options_.rows, RowsOf(out_, options_.width) + kAroundTable));
    Rule();
    Add(document.table);
    table_rows_ = kTableRows;
  }
  for (const doc::Blocks& program : document.programs) {
    Blank();
    Add(program);
  }
  if (!options_.notes) return;
  if (!document.notes.empty() && (!none || !document.programs.empty())) Blank();
  Add(document.notes);
}

}  // namespace

std::string PrintText(const Report& report, const TextOptions& options) {
  TextRenderer renderer(options);
  renderer.AddReport(report);
  return renderer.Take();
}

std::string PrintFailure(const Failure& failure) { return PrintBlocks(FirstBlocks(failure, kUsual), TextOptions()); }

std::string PrintShort(const Failure& failure) {
  constexpr std::size_t kLongest = 4000;
  return CutBytes(PrintBlocks(FirstBlocks(failure, kExtents[3]), {.width = kLongest}), kLongest);
}

std::string PrintBlocks(const doc::Blocks& blocks, const TextOptions& options) {
  TextRenderer renderer(options);
  renderer.Add(blocks);
  return renderer.Take();
}

}  // namespace whyoom
