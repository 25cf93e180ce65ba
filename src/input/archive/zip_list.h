// Whether the members of a zip that were found in it, one behind the other, are those of the list at its end.
//
// libarchive goes from a member to the next signature that looks like one, and ends at what looks like the list. What
// lies between is passed over without a word, be it a member whose signature is damaged. The list knows better.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace whyoom {

class ZipList {
 public:
  // All bytes of the archive that are searched for members, in order.
  void See(std::string_view bytes);

  // A member was found, the content of which begins so many bytes behind the archive's beginning; or, where something
  // was read of it already, somewhat before that.
  void AddMember(std::uint64_t content);

  // What follows the last member begins so many bytes behind the archive's beginning, at most kKept before what was
  // last seen. Then the bytes that follow, in order: those of what was last seen first.
  void BeginList(std::uint64_t at);
  void SeeList(std::string_view bytes);

  // After all that: what does not agree, as a sentence; empty where all does.
  std::string Disagreement() const;

 private:
  // libarchive looks ahead by less before it knows that no member follows.
  static constexpr std::size_t kKept = 64;

  // A signature of a member, which may be part of another one's content.
  struct Place {
    std::uint64_t begin = 0;
    std::uint64_t content = 0;
    bool open = false;  // a descriptor may follow its content
  };
  // Some members, in any order.
  struct Members {
    std::uint64_t count = 0;
    std::uint64_t places = 0;  // a sum that depends on all of them
    void Add(std::uint64_t place);
  };

  void AddPlace(std::uint64_t at, const char* header);
  bool TakeRecord();
  bool TakeEntry();
  std::string_view Rest() const { return std::string_view(held_).substr(used_); }
  void Skip(std::size_t count);

  std::string before_;  // the last bytes before those that were last seen
  std::string end_;     // the last of these
  std::size_t last_seen_ = 0;
  std::string edge_;        // the last bytes seen, in which a member may begin
  std::uint64_t seen_ = 0;  // bytes, with those
  std::deque<Place> places_;
  std::uint64_t last_ = 0;  // content of the last member
  Members found_;
  std::uint64_t open_ = 0;     // members with a descriptor
  std::uint64_t headers_ = 0;  // bytes of all members before their contents

  std::string held_;  // of the list, from its next record on
  std::size_t used_ = 0;
  std::uint64_t list_begin_ = 0;
  bool in_list_ = false;       // a first record was found
  std::uint64_t between_ = 0;  // bytes before it
  Members listed_;
  std::uint64_t contents_ = 0;  // bytes of the listed members' contents, as packed
  std::uint64_t comment_ = 0;   // bytes of it still to come
  bool whole_ = false;          // the list has its end record
  bool odd_ = false;            // there is something in it that is none of its records
  bool more_ = false;           // something follows that belongs to no zip
};

}  // namespace whyoom
