#include "text/line.h"

#include <algorithm>
#include <iterator>

namespace whyoom {

std::uint64_t Line::RawOffset(std::size_t position) const {
  const auto after = std::upper_bound(segments.begin(), segments.end(), position,
                                      [](std::size_t at, const Segment& segment) { return at < segment.text_at; });
  if (after == segments.begin()) return offset + position;
  const Segment& segment = *std::prev(after);
  return offset + segment.raw_at + (position - segment.text_at);
}

}  // namespace whyoom
