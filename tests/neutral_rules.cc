#include "neutral_rules.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <vector>

#include "process.h"

namespace {

using Json = nlohmann::ordered_json;

std::string Joined(const Json& text) {
  if (text.is_string()) return text.get<std::string>();
  std::string all;
  for (const Json& piece : text) all += (all.empty() ? "" : " ") + piece.get<std::string>();
  return all;
}

// Returns "[place] {placeholder} {placeholder}". Drops doubled braces, the escapes of literal ones.
std::string Neutral(const std::string& place, const Json& text) {
  static const std::regex hole(R"(\{[^{}]*\})");
  static const std::regex written_out(R"(\{\{|\}\})");
  const std::string all = std::regex_replace(Joined(text), written_out, "");
  std::string neutral = "[" + place + "]";
  for (std::sregex_iterator match(all.begin(), all.end(), hole); match != std::sregex_iterator(); ++match)
    neutral += " " + match->str();
  return neutral;
}

void Replace(const std::string& place, const std::vector<std::string>& keys, Json* entry) {
  for (const std::string& key : keys) {
    if (entry->contains(key)) (*entry)[key] = Neutral(place + " " + key, (*entry)[key]);
  }
}

// Replaces each sentence of a list: a text, or an object with a text at `key`. Those without a text are left alone.
void ReplaceAll(const std::string& place, const std::string& key, Json* sentences) {
  int number = 0;
  for (Json& sentence : *sentences) {
    const std::string numbered = place + " " + std::to_string(++number);
    if (!sentence.is_object()) {
      sentence = Neutral(numbered, sentence);
    } else if (sentence.contains(key)) {
      sentence[key] = Neutral(numbered, sentence[key]);
    }
  }
}

void ReplaceEach(const std::string& place, const std::string& list, const std::string& key, Json* entry) {
  if (entry->contains(list)) ReplaceAll(place + " " + list, key, &(*entry)[list]);
}

void ReplaceRemedy(Json* remedy) {
  const auto id = (*remedy)["id"].get<std::string>();
  (*remedy)["title"] = "[" + id + "]";
  Replace(id, {"gain", "note", "telltale", "safe_why"}, remedy);
  ReplaceEach(id, "evidence", "text", remedy);
  ReplaceEach(id, "ruled_out", "text", remedy);
  ReplaceEach(id, "safety_when", "safe_why", remedy);
  if (!remedy->contains("how")) return;
  for (auto& [framework, steps] : (*remedy)["how"].items()) ReplaceAll(id + " " + framework, "text", &steps);
}

void ReplaceFailure(Json* rule) {
  const auto code = (*rule)["code"].get<std::string>();
  (*rule)["title"] = "[" + code + "]";
  ReplaceEach(code, "why", "text", rule);
  if (!rule->contains("scenarios")) return;
  for (Json& scenario : (*rule)["scenarios"]) {
    const std::string place = code + "." + scenario["id"].get<std::string>();
    scenario["title"] = "[" + place + "]";
    ReplaceEach(place, "why", "text", &scenario);
  }
}

std::string MakeNeutralRules() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(WHYOOM_SOURCE_DIR) + "/rules")) {
    if (entry.path().extension() == ".json" && entry.path().filename() != "schema.json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  Json all = {{"format", "whyoom.rules/1"}, {"failures", Json::array()}, {"remedies", Json::array()}};
  for (const auto& file : files) {
    Json rules = Json::parse(ReadText(file.string()));
    for (Json& rule : rules.value("failures", Json::array())) {
      ReplaceFailure(&rule);
      all["failures"].push_back(std::move(rule));
    }
    for (Json& remedy : rules.value("remedies", Json::array())) {
      ReplaceRemedy(&remedy);
      all["remedies"].push_back(std::move(remedy));
    }
  }
  return all.dump(1);
}

}  // namespace

std::string WithoutFolder(const std::string& text) {
  static const std::regex folder("[^ \"]*/neutral\\.json");
  return std::regex_replace(text, folder, "neutral.json");
}

std::string WithoutFingerprint(const std::string& text) {
  static const std::regex rules("\"rules\": \"[0-9a-f]{64}\"");
  return std::regex_replace(text, rules, "\"rules\": \"…\"");
}

const std::string& NeutralRules() {
  static const std::string rules = MakeNeutralRules();
  return rules;
}

const std::string& NeutralRulesFile() {
  static const ScratchFolder scratch;
  static const std::string path = scratch.Write("neutral.json", NeutralRules());
  return path;
}
