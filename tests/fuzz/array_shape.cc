// Any text as a shape: the parsed shape is consistent.
#include "facts/array.h"
#include "fuzz/fuzz.h"
#include "program/remedies.h"

using namespace whyoom;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = Bytes(data, size);
  WithoutLayouts(text);
  const std::optional<ArrayShape> shape = ParseArrayShape(text);
  if (!shape) return 0;
  Require(text.find(shape->shape) != std::string_view::npos, "the text contains the shape");
  Require(ElementCount(*shape) >= 0, "the number of elements is not negative");
  const std::optional<std::int64_t> padded = PaddedBytes(*shape);
  const std::optional<std::int64_t> unpadded = UnpaddedBytes(*shape);
  if (padded) Require(*padded >= 0, "the number of bytes is not negative");
  if (padded && unpadded) Require(*padded >= *unpadded, "padding does not reduce the size");
  BestLayoutBytes(*shape);
  for (const int bits : {1, 4, 8, 16, 32, 64, 128}) BytesWithElementBits(*shape, bits);
  return 0;
}
