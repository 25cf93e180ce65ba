// The prefixes and suffixes of the rule data, read without the rules layer.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "text/normalizer.h"

namespace whyoom {

inline const nlohmann::json& PrefixAndSuffixData() {
  static const nlohmann::json data = nlohmann::json::parse(std::ifstream(WHYOOM_SOURCE_DIR "/rules/affixes.json"));
  return data;
}

// Joins a text like the loader: strings joined with a blank; each is a string or an array of pieces.
inline std::string JoinedText(const nlohmann::json& value) {
  if (value.is_string()) return value;
  std::string joined;
  for (std::size_t i = 0; i < value.size(); ++i) {
    joined += i > 0 ? " " : "";
    if (value[i].is_string()) joined += value[i].get<std::string>();
    if (!value[i].is_array()) continue;
    for (const auto& piece : value[i]) joined += piece.get<std::string>();
  }
  return joined;
}

inline const Normalizer& RuleNormalizer() {
  static const Normalizer normalizer = [] {
    std::vector<PrefixOrSuffix> prefixes_and_suffixes;
    for (const auto& entry : PrefixAndSuffixData()["affixes"]) {
      const auto place = entry["place"] == "prefix" ? PrefixOrSuffix::Place::kPrefix : PrefixOrSuffix::Place::kSuffix;
      prefixes_and_suffixes.push_back({entry["id"], place, JoinedText(entry["pattern"])});
    }
    const auto& logs = PrefixAndSuffixData()["json_logs"];
    return Normalizer(prefixes_and_suffixes, {logs["text"], logs["reporter"], logs["time"]});
  }();
  return normalizer;
}

inline std::vector<Line> NormalizeLine(std::string_view bytes) {
  RawLine raw;
  raw.number = 7;
  raw.offset = 1000;
  raw.bytes = bytes;
  std::vector<Line> lines;
  RuleNormalizer().Normalize(raw, &lines);
  return lines;
}

inline std::vector<std::string> Texts(std::string_view bytes) {
  std::vector<std::string> texts;
  for (const Line& line : NormalizeLine(bytes)) texts.push_back(line.text);
  return texts;
}

// The text of the only line in `bytes`.
inline std::string Text(std::string_view bytes) {
  const auto texts = Texts(bytes);
  return texts.size() == 1 ? texts[0] : "not one line but " + std::to_string(texts.size());
}

}  // namespace whyoom
