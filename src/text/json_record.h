// Log records: JSON objects, or "key=value" pairs.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "text/line.h"
#include "text/normalizer.h"
#include "text/timestamp.h"

namespace whyoom {

class JsonRecordReader {
 public:
  // Throws Error for what is no JSON pointer.
  explicit JsonRecordReader(const JsonLogKeys& keys);

  struct Record {
    std::vector<MappedText> texts;  // each different one, in order of the keys; line breaks are still in them
    bool own = false;               // a record of whyoom's own report: it repeats what a log says
    std::string reporter;
    std::optional<Timestamp> time;
  };

  // The objects of an array of several in one line; empty for anything else.
  static std::vector<MappedText> Elements(const MappedText& line);

  // False if `line` is no JSON object, alone or as an element of an array that has one a line, or holds no text under
  // the keys and is no record of whyoom.
  bool Read(const MappedText& line, Record* record) const;

  // The same for "key=value" pairs, which have the keys at the top only.
  bool ReadAsPairs(const MappedText& line, Record* record) const;

 private:
  struct Key {
    nlohmann::json::json_pointer pointer;
    std::string name;  // the last part
    bool top = false;  // it is the only one
  };
  std::vector<Key> text_;
  std::vector<Key> reporter_;
  std::vector<Key> time_;
};

}  // namespace whyoom
