// Log records as JSON objects, and texts in JSON documents.
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
    // Of a text in a document that is no record: the text with its quotes; empty if it is certainly output of a process
    // and not an example.
    MappedText written;
    bool logged = true;  // a record of a logger
  };

  // The records in a line: a JSON object, alone or as a line of an array, or an array of objects. Objects without a
  // text under the keys are omitted, unless they are records of whyoom.
  std::vector<Record> Read(const MappedText& line) const;

 private:
  struct Key {
    nlohmann::json::json_pointer pointer;
    std::string name;  // the last part of the pointer
  };
  std::optional<Record> ReadObject(const MappedText& line, const nlohmann::json& object, std::size_t* past) const;

  std::vector<Key> text_;
  std::vector<Key> stream_name_;
  std::vector<Key> time_;
};

// The texts of a line of a JSON document that contains items of an array of strings, such as the output in a notebook:
// the unescaped items, and the text between them; empty for any other line. `lists_log` is true if lines of a log
// precede the line in its array.
std::vector<JsonRecordReader::Record> ReadStrings(const MappedText& line, bool lists_log);

// Whether an item of a JSON array of strings, without its opening quote, is a line of a log and not an example of a
// message: it is indented, stamped, coloured, part of a traceback, or has its line feed.
bool IsLogItem(std::string_view item);

}  // namespace whyoom
