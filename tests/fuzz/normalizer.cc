// Any bytes as a line: the normalized lines are clean and map back to positions in the raw line.
#include "text/normalizer.h"

#include "clean_text.h"
#include "fuzz/fuzz.h"

using namespace whyoom;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Normalizer normalizer(BuiltInRules().affixes, BuiltInRules().json_keys);
  RawLine raw;
  raw.offset = 1000;
  raw.bytes = Bytes(data, size);
  std::vector<Line> lines;
  normalizer.Normalize(raw, &lines);
  Require(!lines.empty(), "a raw line yields a line");
  for (const Line& line : lines) {
    Require(IsClean(line.text), "the text is clean");
    Require(IsClean(line.stream_name), "the stream's name is clean");
    Require(line.repeats >= 1, "a line counts at least one stream");
    Require(!line.segments.empty() && line.segments[0].text_at == 0, "the mapping covers the start of the text");
    Require(line.segments.back().raw_at <= size, "the mapping stays in the raw line");
    for (std::size_t at = 0; at < line.text.size(); at += DecodeUtf8(line.text, at).length) {
      Require(line.RawOffset(at) >= raw.offset, "an offset is not before the line");
      Require(line.RawOffset(at) < raw.offset + size, "an offset is not after the line");
    }
  }
  return 0;
}
