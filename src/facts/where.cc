#include "facts/where.h"

#include <compare>
#include <tuple>

#include "rules/sha256.h"
#include "text/secrets.h"

namespace whyoom {

int Order(const Where& a, const Where& b) {
  const auto order = [](const Where& where) {
    return std::tie(where.artifact.path, where.artifact.member, where.offset, where.line, where.last_line);
  };
  const std::strong_ordering result = order(a) <=> order(b);
  return result < 0 ? -1 : result > 0 ? 1 : 0;
}

std::string BoundedName(const std::string& name, std::size_t longest) {
  if (name.size() <= longest) return name;
  constexpr std::size_t kDigest = 16;
  std::size_t end = longest - kDigest - 1;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;  // not inside a character
  return name.substr(0, end) + "~" + Sha256Hex(name).substr(0, kDigest);
}

std::string BoundedPath(const std::string& path) { return BoundedName(MaskSecrets(path), 4096); }

}  // namespace whyoom
