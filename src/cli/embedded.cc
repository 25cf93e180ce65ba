#include "cli/embedded.h"

#include <string_view>

#include "rules/builtin.h"

namespace whyoom {
namespace {

constexpr std::size_t kColumns = 80;

// Joins the words with commas; continuation lines are indented by the label's width.
std::string Joined(std::string_view label, const std::vector<std::string>& words) {
  std::string text(label);
  std::size_t column = text.size();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i] + (i + 1 < words.size() ? "," : "");
    if (i > 0 && column + 1 + word.size() > kColumns) {
      text += '\n' + std::string(label.size(), ' ');
      column = label.size();
    } else if (i > 0) {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
  }
  return text;
}

}  // namespace

std::string VersionText() {
  const BuildFacts& build = TheBuild();
  return "whyoom " WHYOOM_VERSION "\ncommit     " + build.commit + "\nbuilt by   " + build.compiler + '\n' +
         Joined("with       ", build.libraries) + "\nrules      " + BuiltInDigest().fingerprint;
}

}  // namespace whyoom
