// Any bytes, plain or compressed: the members do not depend on the chunking. The first byte selects the chunk size.
#include "fuzz/unpacked.h"

using namespace whyoom;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  CheckMembers(Bytes(data + 1, size - 1), 1 + 8 * (data[0] / 2));
  return 0;
}
