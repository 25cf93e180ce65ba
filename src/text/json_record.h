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
  // Throws Error if a key is not a valid JSON pointer.
  explicit JsonRecordReader(const JsonLogKeys& keys);

  struct Record {
    std::vector<MappedText> texts;  // distinct, in the order of the keys; line breaks included
    bool own = false;               // a record of a whyoom report, which repeats a log's text
    std::string stream_name;
    std::optional<Timestamp> time;
  };

  // A text in a JSON document.
  struct String {
    MappedText text;
    MappedText written;  // with its quotes; empty if the text is certainly output of a process and not an example
  };

  // The texts of a line of a JSON document that contains items of an array of strings, such as the output in a
  // notebook; empty for any other line. Other strings stay as they are, with their key. `lists_log` is true if lines of
  // a log precede the line in its array. The line may begin or end inside a string.
  static std::vector<String> Strings(const MappedText& line, bool lists_log);

  // The elements of a line that is a JSON array of objects; empty for any other line.
  static std::vector<MappedText> Elements(const MappedText& line);

  // Returns false if `line` is not a JSON object (alone, or a line of an array), or if the object has no text under the
  // keys and is not a record of whyoom.
  bool Read(const MappedText& line, Record* record) const;

  // Like Read, for a line of "key=value" pairs, which have only top-level keys.
  bool ReadAsPairs(const MappedText& line, Record* record) const;

 private:
  struct Key {
    nlohmann::json::json_pointer pointer;
    std::string name;  // the last part of the pointer
    bool top = false;  // the pointer has only one part
  };
  std::vector<Key> text_;
  std::vector<Key> stream_name_;
  std::vector<Key> time_;
};

// Whether an item of a JSON array of strings, without its opening quote, is a line of a log and not an example of a
// message: it is indented, stamped, coloured, part of a traceback, or has its line feed.
bool IsLogItem(std::string_view item);

}  // namespace whyoom
