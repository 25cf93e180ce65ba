// Any bytes as a JSON log record: texts are valid UTF-8 and map back to positions in the record.
#include "clean_text.h"
#include "fuzz/fuzz.h"
#include "text/normalizer.h"

using namespace whyoom;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const JsonRecordReader reader(BuiltInRules().json_keys);
  for (const JsonRecord& record : reader.Read(MapRaw(Bytes(data, size)))) {
    Require(ValidUtf8(record.stream_name) == record.stream_name, "the stream's name is valid UTF-8");
    for (const MappedText& text : record.texts) {
      Require(ValidUtf8(text.text) == text.text, "the text is valid UTF-8");
      Require(text.text.empty() || (!text.segments.empty() && text.segments[0].text_at == 0),
              "the mapping covers the start of the text");
      for (const Line::Segment& segment : text.segments)
        Require(segment.raw_at <= size, "the mapping stays inside the record");
    }
  }
  return 0;
}
