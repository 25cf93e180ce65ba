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

  void Open(std::string_view element, const Attributes& attributes = {});
  void Close();                                                             // the innermost that is open
  void Empty(std::string_view element, const Attributes& attributes = {});  // without content
  void Element(std::string_view element, std::string_view text, const Attributes& attributes = {});

  void Text(std::string_view text);
  void Sentence(std::string_view sentence);  // names in it as code
  void Verbatim(std::string_view html);      // well-formed already: our own
  void Line() { html_ += '\n'; }             // so that the source can be read and compared

  std::size_t size() const { return html_.size(); }
  std::string Take();  // all must be closed

 private:
  void Begin(std::string_view element, const Attributes& attributes);

  std::string html_;
  std::vector<std::string_view> open_;
};

}  // namespace whyoom
