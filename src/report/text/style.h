// The few styles of text output. Without colour each is the text itself.
#pragma once

#include <string>
#include <string_view>

namespace whyoom {

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
  std::string Wrap(std::string_view code, std::string_view text) const {
    if (!colour_ || text.empty()) return std::string(text);
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
  }
  bool colour_;
};

}  // namespace whyoom
