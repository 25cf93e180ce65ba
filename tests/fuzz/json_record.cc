// Any bytes as a log record in JSON: texts are valid and lead back into the record.
#include "text/json_record.h"

#include "clean_text.h"
#include "fuzz/fuzz.h"

using namespace whyoom;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const JsonRecordReader reader(BuiltInRules().json_keys());
  JsonRecordReader::Record record;
  if (!reader.Read(MapRaw(Bytes(data, size)), &record)) return 0;
  Require(!record.texts.empty(), "a record holds a text");
  Require(ValidUtf8(record.reporter) == record.reporter, "the reporter is valid");
  for (const MappedText& text : record.texts) {
    Require(ValidUtf8(text.text) == text.text, "the text is valid");
    Require(text.text.empty() || (!text.segments.empty() && text.segments[0].text_at == 0), "the way back begins");
    for (const Line::Segment& segment : text.segments) Require(segment.raw_at <= size, "the way back stays inside");
  }
  return 0;
}
