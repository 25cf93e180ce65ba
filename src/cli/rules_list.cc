#include "cli/rules_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/exit_status.h"
#include "cli/rule_files.h"
#include "cli/rules_command.h"
#include "cli/terminal.h"
#include "report/layout.h"
#include "rules/rule_entry.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kIdColumns = 30;
constexpr std::size_t kMostTitle = 200;

// What was made of an entry, a phrase each; nothing is said of one that is built in and as it was.
std::vector<std::string> ChangesOf(const RuleEntry& entry) {
  std::vector<std::string> changes;
  if (!entry.built_in) changes.push_back("from " + entry.place);
  for (const std::string& place : entry.replaces) changes.push_back("in place of " + place);
  for (const std::string& place : entry.extended_by) changes.push_back("extended by " + place);
  for (const std::string& head : entry.without) changes.push_back("without " + head);
  if (!entry.disabled_by.empty()) changes.push_back("disabled by " + entry.disabled_by);
  return changes;
}

std::string ToText(const std::vector<RuleEntry>& entries, const TextOptions& options) {
  TextPage page(options);
  std::string section;
  for (const RuleEntry& entry : entries) {
    if (entry.section != section) page.Heading(section = entry.section);
    page.Item(Printable(entry.id), kIdColumns, CutBytes(Printable(entry.title), kMostTitle));
    for (const std::string& change : ChangesOf(entry)) page.Paragraph(Printable(change), 4);
  }
  return page.Take();
}

std::string ToJson(const std::vector<RuleEntry>& entries) {
  Json all = Json::array();
  for (const RuleEntry& entry : entries) {
    Json one = {{"section", entry.section},
                {"id", entry.id},
                {"title", entry.title},
                {"place", entry.place},
                {"from", entry.built_in ? "built-in" : "file"}};
    if (!entry.replaces.empty()) one["replaces"] = entry.replaces;
    if (!entry.extended_by.empty()) one["extended_by"] = entry.extended_by;
    if (!entry.without.empty()) one["without"] = entry.without;
    if (!entry.disabled_by.empty()) one["disabled_by"] = entry.disabled_by;
    all.push_back(std::move(one));
  }
  const Json list = {{"schema", "whyoom.rule_list/1"}, {"entries", std::move(all)}};
  return list.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace

int ListRules(const Options& options, const TextOptions& text) {
  Options with_files = options;
  std::vector<std::string> wanted;
  const std::vector<std::string>& sections = RuleSections();
  std::erase_if(with_files.rules, [&](const std::string& word) {
    const bool is_section = std::find(sections.begin(), sections.end(), word) != sections.end();
    if (is_section) wanted.push_back(word);
    return is_section;
  });
  LoadRules(with_files);  // says what is wrong with them
  std::vector<RuleEntry> entries = ListRuleEntries(RuleFilesOf(with_files).files);
  std::erase_if(entries, [&](const RuleEntry& entry) {
    return !wanted.empty() && std::find(wanted.begin(), wanted.end(), entry.section) == wanted.end();
  });
  WriteOutput(options.format == Format::kJson ? ToJson(entries) : WithoutCommands(ToText(entries, text)),
              options.output);
  return kNothing;
}

}  // namespace whyoom
