// A page of plain text: paragraphs next to labels, lists, figures. No line is wider than the page, except for long
// names.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

// How much to print for each failure: what fits a page, one line, or everything.
enum class Detail { kUsual, kBrief, kAll };

struct TextOptions {
  std::size_t width = 80;  // columns
  bool colour = false;     // ANSI colours, the only control characters in the output
  Detail detail = Detail::kUsual;
  bool notes = true;  // also print notes: on unread inputs, unknown errors, or that nothing was found
};

// The styles of text output. Without colour, they return the text unchanged.
class Style {
 public:
  explicit Style(bool colour) : colour_(colour) {}

  std::string Error(std::string_view text) const { return Wrap("1;31", text); }
  std::string Strong(std::string_view text) const { return Wrap("1", text); }
  std::string Good(std::string_view text) const { return Wrap("32", text); }
  std::string Warning(std::string_view text) const { return Wrap("33", text); }
  std::string Faint(std::string_view text) const { return Wrap("2", text); }
  std::string Label(std::string_view text) const { return Wrap("1;36", text); }

 private:
  std::string Wrap(std::string_view code, std::string_view text) const;

  bool colour_;
};

class TextPage {
 public:
  static constexpr std::size_t kIndent = 6;  // columns of a label and the blanks after it: "why   "

  explicit TextPage(const TextOptions& options);

  std::size_t width() const { return width_; }
  bool empty() const { return out_.empty(); }
  const Style& style() const { return style_; }

  // From now on, cuts each paragraph and step to one line, or to two (a step: three) until `spare` further lines are
  // used up. nullopt: none is cut.
  void CutTo(std::optional<std::size_t> spare) { spare_lines_ = spare; }
  // The lines that a step gets without using up spare ones.
  void SetStepLines(std::size_t lines) { step_lines_ = lines; }
  bool is_cut() const { return spare_lines_.has_value(); }
  std::size_t lines() const { return static_cast<std::size_t>(std::count(out_.begin(), out_.end(), '\n')); }

  // Prints a styled line, which must not be wider than the page.
  void Line(std::string_view styled);
  // Like Line, but indented by the width of the label column, which contains the label of SetLabel.
  void IndentedLine(std::string_view styled);
  void SetLabel(std::string_view label) { label_ = label; }
  void Blank() { out_ += '\n'; }
  // Prints a horizontal line, unless the page is empty.
  void Rule();

  // "E1000  HBM out of memory at compile time".
  void Title(std::string_view name, std::string_view title);
  // Prints an empty line and a heading.
  void Heading(std::string_view text);

  // Prints a paragraph in one style, indented by `column` blanks.
  using Look = std::string (Style::*)(std::string_view) const;
  void Paragraph(std::string_view text, std::size_t column = 0, Look look = nullptr);
  // Prints a paragraph that is never cut.
  void Whole(std::string_view text, std::size_t column = 0, Look look = nullptr);
  // Prints a paragraph with `label` to the left of its first line; `own` lines of it do not use up spare ones.
  void Beside(std::string_view label, std::string_view text, std::size_t own = 1);
  // Like Beside, but `label` is bold, and the paragraph starts at `column`, or after the label if it is longer.
  void Item(std::string_view label, std::size_t column, std::string_view text);
  void Step(std::size_t column, std::string_view text, bool whole);  // "→ text"
  void Warning(std::string_view text);

  // Returns the page; call once, at the end.
  std::string Take() { return std::move(out_); }

 private:
  // `text`, cut to the lines that CutTo permits; `own` of them do not use up spare ones.
  std::string Cut(std::string_view text, std::size_t columns, std::size_t most = 2, std::size_t own = 1);
  void Hang(const std::string& lead, std::size_t column, std::string_view text, std::size_t most = 2,
            std::size_t own = 1);

  std::size_t width_;
  std::optional<std::size_t> spare_lines_;
  std::size_t step_lines_ = 1;
  std::string label_;
  Style style_;
  std::string out_;
};

}  // namespace whyoom
