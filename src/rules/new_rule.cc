#include "rules/new_rule.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "input/error.h"
#include "text/quantity.h"

namespace whyoom {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kToDo = "TODO";

// Makes patterns of lines; sizes are counted through all of them.
class Generalizer {
 public:
  std::string PatternOf(std::string_view line) {
    static const re2::RE2 varying(
        R"re((\d+(?:\.\d+)?\s?[KMGTPE](?:iB|B)?\b|\d+\s?B\b)|(\d+)( bytes\b)|(0x[0-9a-fA-F]+)|(\d+)|('[^']*')|("[^"]*")|(\s+))re");
    std::string pattern;
    std::array<re2::StringPiece, 9> groups;
    const re2::StringPiece subject(line);
    std::size_t at = 0;
    while (varying.Match(subject, at, line.size(), re2::RE2::UNANCHORED, groups.data(), groups.size())) {
      const auto begin = static_cast<std::size_t>(groups[0].data() - line.data());
      pattern += re2::RE2::QuoteMeta(subject.substr(at, begin - at));
      const std::string found(groups[0]);
      if (groups[1].data() != nullptr) {
        pattern += Capture("size", found);
      } else if (groups[2].data() != nullptr) {
        pattern += Capture("bytes", std::string(groups[2])) + " bytes";
      } else if (groups[4].data() != nullptr) {
        pattern += "0x[0-9a-fA-F]+";
      } else if (groups[5].data() != nullptr) {
        pattern += "\\d+";
      } else if (groups[8].data() != nullptr) {
        pattern += " ";
      } else {
        pattern += fmt::format("{0}[^{0}]{{0,400}}{0}", found.front());
      }
      at = begin + found.size();
    }
    return pattern + re2::RE2::QuoteMeta(subject.substr(at));
  }

  // What the captures hold in the lines that were given.
  const Json& facts() const { return facts_; }

 private:
  std::string Capture(const char* type, const std::string& value) {
    const std::string name = fmt::format("size_{}", facts_.size() + 1);
    if (const std::optional<std::int64_t> bytes = ParseSize(value)) facts_[name] = *bytes;
    return fmt::format("%{{{}:{}}}", type, name);
  }

  Json facts_ = Json::object();
};

Json NamesOf(const Json& facts) {
  Json names = Json::array();
  for (const auto& [name, value] : facts.items()) names.push_back(name);
  return names;
}

bool IsBlank(const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; }

}  // namespace

std::string NewRule(const std::string& code, const std::vector<std::string>& message) {
  std::vector<std::string> lines;
  std::copy_if(message.begin(), message.end(), std::back_inserter(lines),
               [](const auto& line) { return !IsBlank(line); });
  if (lines.empty()) throw Error("a new rule needs the message that it is to recognise");
  Generalizer generalizer;
  const std::string head = generalizer.PatternOf(lines[0]);
  Json facts = Json::array();
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::size_t known = generalizer.facts().size();
    std::string pattern = generalizer.PatternOf(lines[i]);
    if (generalizer.facts().size() > known) facts.push_back(std::move(pattern));
  }
  Json failure = {{"code", code},
                  {"title", kToDo},
                  {"category", kToDo},
                  {"phase", "run"},
                  {"about", {"TODO: what it means, for whyoom explain."}},
                  {"heads", {{{"id", "message"}, {"pattern", head}}}}};
  if (!facts.empty()) failure["facts"] = std::move(facts);
  failure["identity"] = NamesOf(generalizer.facts());
  failure["numbers"] = NamesOf(generalizer.facts());
  Json example = {{"text", lines}, {"facts", generalizer.facts()}};
  failure["examples"] = {{"match", Json::array({std::move(example)})}};
  const Json file = {{"format", "whyoom.rules/1"}, {"failures", Json::array({std::move(failure)})}};
  return file.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace whyoom
