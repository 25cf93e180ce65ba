// Writes HTML that is well-formed XML, too, by construction: elements nest, text and attributes are escaped and
// printable. Names of elements and attributes are literals of the caller.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whyoom {

class HtmlWriter {
 public:
  using Attributes = std::vector<std::pair<std::string_view, std::string>>;

  // An element that is open, and is closed where the scope ends. Scopes end in the order that their elements nest in.
  class [[nodiscard]] Scope {
   public:
    Scope(HtmlWriter* html, bool line) : html_(html), line_(line) {}
    ~Scope();
    Scope(Scope&& other) noexcept : html_(std::exchange(other.html_, nullptr)), line_(other.line_) {}

   private:
    HtmlWriter* html_;
    bool line_;
  };
  Scope In(std::string_view element, const Attributes& attributes = {}) { return Open(element, attributes, false); }
  // The same for what gets a line of its own, so that the source can be read and compared.
  Scope Block(std::string_view element, const Attributes& attributes = {}) { return Open(element, attributes, true); }

  // Whole elements: without content, with a text.
  void Empty(std::string_view element, const Attributes& attributes = {});
  void Element(std::string_view element, std::string_view text, const Attributes& attributes = {});
  // "h1" to "h6".
  void Heading(int level, std::string_view text, const Attributes& attributes = {});
  static std::string_view HeadingElement(int level);

  // The head of a table; of columns with numbers, which stand to the right, and of others. An empty title is a cell
  // that is no heading.
  struct Column {
    const char* title;
    bool number = false;
  };
  void TableHead(const std::vector<Column>& columns);
  void Text(std::string_view text);
  void Words(std::string_view text);     // the same; no line is broken between a figure and its unit
  void Verbatim(std::string_view html);  // well-formed already: our own
  void Line() { html_ += '\n'; }

  std::string Take();  // all must be closed

 private:
  void Begin(std::string_view element, const Attributes& attributes);
  Scope Open(std::string_view element, const Attributes& attributes, bool line);
  void Close(bool line);

  std::string html_;
  std::vector<std::string_view> open_;
};

// The element `head`.
void AddHead(const std::string& title, bool with_script, HtmlWriter* html);

// What the drawings of a page refer to; the first in its body.
void AddPatterns(HtmlWriter* html);

std::string_view PageStyle();
std::string_view PageScript();

}  // namespace whyoom
