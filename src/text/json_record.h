// Log records as JSON objects, and texts in JSON documents.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "text/line.h"
#include "text/timestamp.h"

namespace whyoom {

// JSON pointers to the text, the stream and the time in records of loggers that write JSON.
struct JsonLogKeys {
  std::vector<std::string> text;
  std::vector<std::string> stream_name;
  std::vector<std::string> time;
};

struct JsonRecord {
  // Distinct, in the order of the keys; line breaks included. None: a record of whyoom, which repeats a log's text.
  std::vector<MappedText> texts;
  std::string stream_name;
  std::optional<Timestamp> time;
  // Of a text in a document that is no record: the text with its quotes; empty if it is certainly output of a process
  // and not an example.
  MappedText written;
  bool logged = true;  // a record of a logger
};

class JsonRecordReader {
 public:
  // Throws json::exception if a key is not a valid JSON pointer.
  explicit JsonRecordReader(const JsonLogKeys& keys);

  // The records in a line: a JSON object, alone or as a line of an array, or an array of objects. Objects without a
  // text under the keys are omitted, unless they are records of whyoom.
  std::vector<JsonRecord> Read(const MappedText& line) const;

 private:
  using Keys = std::vector<nlohmann::json::json_pointer>;
  std::optional<JsonRecord> ReadObject(const MappedText& line, const nlohmann::json& object, std::size_t* past) const;

  Keys text_;
  Keys stream_name_;
  Keys time_;
};

// The texts of a line of a JSON document that contains items of an array of strings, such as the output in a notebook:
// the unescaped items, and the text between them; empty for any other line.
std::vector<JsonRecord> ReadStrings(const MappedText& line);

}  // namespace whyoom
