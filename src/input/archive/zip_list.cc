#include "input/archive/zip_list.h"

#include <algorithm>
#include <array>
#include <optional>

namespace whyoom {
namespace {

constexpr std::string_view kMember = "PK\x03\x04";
constexpr std::string_view kEntry = "PK\x01\x02";
constexpr std::string_view kSignature = "PK\x05\x05";
constexpr std::string_view kEndOfList = "PK\x05\x06";
constexpr std::string_view kLargeEnd = "PK\x06\x06";
constexpr std::string_view kLargeEndPlace = "PK\x06\x07";

constexpr std::size_t kMemberHeader = 30;
constexpr std::size_t kEntryHeader = 46;
constexpr std::size_t kEndHeader = 22;
constexpr std::uint64_t kLongestDescriptor = 24;
// Between a member's signature and its content, and what libarchive may have been given beyond.
constexpr std::uint64_t kFarthest = std::uint64_t{1} << 19;

template <typename Number>
Number NumberAt(const char* bytes) {
  Number number = 0;
  for (std::size_t i = sizeof(Number); i-- > 0;)
    number = static_cast<Number>(number << 8 | static_cast<unsigned char>(bytes[i]));
  return number;
}

std::uint16_t Short(const char* bytes) { return NumberAt<std::uint16_t>(bytes); }
std::uint32_t Long(const char* bytes) { return NumberAt<std::uint32_t>(bytes); }

// Numbers that do not fit into an entry stand in this field, in the entry's order: those that are all ones there.
struct LargeNumbers {
  std::string_view field;

  explicit LargeNumbers(std::string_view extra) {
    constexpr std::uint16_t kLarge = 1;
    while (extra.size() >= 4) {
      const std::size_t size = std::min<std::size_t>(Short(extra.data() + 2), extra.size() - 4);
      if (Short(extra.data()) == kLarge) {
        field = extra.substr(4, size);
        return;
      }
      extra.remove_prefix(4 + size);
    }
  }

  std::uint64_t Or(std::uint32_t number) {
    if (number != UINT32_MAX || field.size() < 8) return number;
    const std::uint64_t large = NumberAt<std::uint64_t>(field.data());
    field.remove_prefix(8);
    return large;
  }
};

}  // namespace

void ZipList::Members::Add(std::uint64_t place) {
  ++count;
  // splitmix64
  place += 0x9E3779B97F4A7C15;
  place = (place ^ place >> 30) * 0xBF58476D1CE4E5B9;
  place = (place ^ place >> 27) * 0x94D049BB133111EB;
  places += place ^ place >> 31;
}

void ZipList::AddPlace(std::uint64_t at, const char* header) {
  constexpr unsigned kOpen = 8;
  places_.push_back(
      {at, at + kMemberHeader + Short(header + 26) + Short(header + 28), (Short(header + 6) & kOpen) != 0});
}

void ZipList::See(std::string_view bytes) {
  // What began in the bytes before: it is searched for with so many of these that it is whole.
  const std::size_t overlap = std::min(bytes.size(), kMemberHeader - 1);
  const std::uint64_t edge_begin = seen_ - edge_.size();
  const std::size_t edge_size = edge_.size();
  edge_ += bytes.substr(0, overlap);
  for (std::size_t at = edge_.find(kMember); at < edge_size && at + kMemberHeader <= edge_.size();
       at = edge_.find(kMember, at + 1))
    AddPlace(edge_begin + at, edge_.data() + at);
  for (std::size_t at = bytes.find(kMember); at != std::string_view::npos && at + kMemberHeader <= bytes.size();
       at = bytes.find(kMember, at + 1))
    AddPlace(seen_ + at, bytes.data() + at);
  seen_ += bytes.size();
  last_seen_ = bytes.size();
  before_ = end_;
  end_ += bytes.substr(bytes.size() - std::min(bytes.size(), kKept));
  end_.erase(0, end_.size() - std::min(end_.size(), kKept));
  if (bytes.size() >= kMemberHeader) {
    edge_ = bytes.substr(bytes.size() - (kMemberHeader - 1));
  } else if (edge_.size() > kMemberHeader - 1) {
    edge_.erase(0, edge_.size() - (kMemberHeader - 1));
  }
  while (!places_.empty() && places_.front().begin + kFarthest < seen_) places_.pop_front();
}

void ZipList::AddMember(std::uint64_t content) {
  // Not what lies in the member before, whose content began there.
  const auto is_before = [&](const Place& place) { return place.begin < last_ || place.content > content; };
  const auto exact = std::find_if(places_.begin(), places_.end(),
                                  [&](const Place& place) { return !is_before(place) && place.content == content; });
  const auto first = std::find_if_not(places_.begin(), places_.end(), is_before);
  const auto found = exact != places_.end() ? exact : first;
  last_ = content;
  if (found == places_.end()) {
    ++found_.count;
    return;
  }
  found_.Add(found->begin);
  headers_ += found->content - found->begin;
  if (found->open) ++open_;
  places_.erase(places_.begin(), found + 1);
}

void ZipList::BeginList(std::uint64_t at) {
  list_begin_ = at;
  const std::uint64_t last = seen_ - last_seen_;
  if (at < last)
    SeeList(std::string_view(before_).substr(before_.size() - std::min<std::uint64_t>(before_.size(), last - at)));
}

void ZipList::Skip(std::size_t count) { used_ += count; }

void ZipList::SeeList(std::string_view bytes) {
  if (odd_ || more_) return;
  if (used_ == held_.size()) held_.clear();
  held_.erase(0, held_.empty() ? 0 : used_);
  used_ = 0;
  held_ += bytes;
  while (!odd_ && TakeRecord()) {
  }
}

// One of an entry; false where it is not there whole.
bool ZipList::TakeEntry() {
  const std::string_view rest = Rest();
  if (rest.size() < kEntryHeader) return false;
  const std::size_t name = Short(rest.data() + 28);
  const std::size_t extra = Short(rest.data() + 30);
  const std::size_t size = kEntryHeader + name + extra + Short(rest.data() + 32);
  if (rest.size() < size) return false;
  LargeNumbers large(rest.substr(kEntryHeader + name, extra));
  large.Or(Long(rest.data() + 24));  // its size when unpacked
  contents_ += large.Or(Long(rest.data() + 20));
  listed_.Add(large.Or(Long(rest.data() + 42)));
  Skip(size);
  return true;
}

// What stands next of the list; false where it is not there whole, or nothing is to follow.
bool ZipList::TakeRecord() {
  if (comment_ > 0) {
    const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(comment_, Rest().size()));
    comment_ -= size;
    Skip(size);
    return size > 0;
  }
  const std::string_view rest = Rest();
  if (whole_) {
    // Zeros fill up the last block of a tape.
    more_ = more_ || rest.find_first_not_of('\0') != std::string_view::npos;
    Skip(rest.size());
    return false;
  }
  if (rest.size() < kEntry.size()) return false;
  const std::string_view kind = rest.substr(0, kEntry.size());
  const bool is_record = kind == kEntry || kind == kEndOfList || kind == kLargeEnd;
  if (!in_list_ && !is_record) {
    // What is left of a descriptor that is longer than it should be; Disagreement judges how much.
    ++between_;
    Skip(1);
    odd_ = between_ > kLongestDescriptor;
    return !odd_;
  }
  in_list_ = true;
  if (kind == kEntry) return TakeEntry();
  if (kind == kEndOfList) {
    if (rest.size() < kEndHeader) return false;
    comment_ = Short(rest.data() + 20);
    whole_ = true;
    odd_ = Short(rest.data() + 10) != UINT16_MAX &&
           Short(rest.data() + 10) != static_cast<std::uint16_t>(listed_.count);  // some write no more of a larger one
    Skip(kEndHeader);
    return !odd_;
  }
  std::optional<std::size_t> size;
  if (kind == kLargeEndPlace) size = 20;
  if (kind == kSignature) {
    if (rest.size() < 6) return false;
    size = 6 + Short(rest.data() + 4);
  } else if (kind == kLargeEnd) {
    constexpr std::uint64_t kLongest = std::uint64_t{1} << 20;  // 44, and what nobody writes
    if (rest.size() < 12) return false;
    const std::uint64_t said = NumberAt<std::uint64_t>(rest.data() + 4);
    if (said <= kLongest) size = static_cast<std::size_t>(said) + 12;
  }
  odd_ = !size;
  if (odd_ || rest.size() < *size) return false;
  Skip(*size);
  return true;
}

std::string ZipList::Disagreement() const {
  if (more_ && !odd_) return "other bytes follow its zip data and were not read";
  if (!whole_ || odd_ || comment_ > 0)
    return "its zip data does not end with a whole list of its members, so some may be missing";
  if (found_.count != listed_.count || found_.places != listed_.places)
    return "its zip data lists other members than are found in it, so some may be missing";
  // What lies between the members is at most a descriptor each.
  const std::uint64_t begin = list_begin_ + between_;
  const std::uint64_t taken = headers_ + contents_;
  if (taken > begin || begin - taken > open_ * kLongestDescriptor)
    return "its zip data has bytes that belong to no member of its list; what they hold was not read";
  return "";
}

}  // namespace whyoom
