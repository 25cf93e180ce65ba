#include "rules/sha256.h"

#include <fmt/format.h>
#include <nettle/sha2.h>
#include <nettle/version.h>

#include <array>
#include <cstdint>

namespace whyoom {

std::string Sha256Hex(std::string_view data) {
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, data.size(), reinterpret_cast<const std::uint8_t*>(data.data()));
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
#if NETTLE_VERSION_MAJOR >= 4
  sha256_digest(&context, digest.data());
#else
  sha256_digest(&context, digest.size(), digest.data());
#endif
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace whyoom
