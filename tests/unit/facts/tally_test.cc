// Tallies use bounded memory. Joining them in any order and grouping gives the same tally.
#include "facts/tally.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "catch.h"

using namespace whyoom;

namespace TEST_FILE {

std::string Host(int i) { return "host-" + std::to_string(i); }

NameSample Sample(int begin, int end) {
  NameSample sample;
  for (int i = begin; i < end; ++i) sample.Add(Host(i));
  return sample;
}

Where Place(int i) { return {{"log-" + std::to_string(i % 97), ""}, 1, 1, static_cast<std::uint64_t>(i)}; }

TEST_CASE("up to 1024 distinct names are counted exactly", "[facts]") {
  NameSample sample = Sample(0, 1024);
  sample.Join(Sample(500, 800));
  sample.Add(Host(7));
  CHECK(sample.complete());
  CHECK(sample.count() == 1024);
  CHECK(sample.names().size() == 1024);
  const std::vector<std::string> names = sample.names();
  CHECK(std::is_sorted(names.begin(), names.end()));
}

TEST_CASE("more names are estimated, and the sample is marked incomplete", "[facts]") {
  for (const int count : {1025, 5000, 60000}) {
    const NameSample sample = Sample(0, count);
    CHECK_FALSE(sample.complete());
    CHECK(sample.names().size() == 1024);
    CHECK(static_cast<double>(sample.count()) > 0.85 * count);
    CHECK(static_cast<double>(sample.count()) < 1.15 * count);
  }
}

TEST_CASE("a sample of samples equals the sample of the whole", "[facts]") {
  std::mt19937 random(7);
  const NameSample whole = Sample(0, 9000);
  for (int round = 0; round < 5; ++round) {
    std::vector<NameSample> parts(9);
    for (int i = 0; i < 9000; ++i) parts[random() % parts.size()].Add(Host(i));
    for (int i = 0; i < 500; ++i) parts[random() % parts.size()].Add(Host(i));  // some in several parts
    std::shuffle(parts.begin(), parts.end(), random);
    NameSample left;
    NameSample right;
    for (std::size_t i = 0; i < parts.size(); ++i) (i % 2 == 0 ? left : right).Join(parts[i]);
    right.Join(left);
    CHECK(right.names() == whole.names());
    CHECK(right.count() == whole.count());
    CHECK(right.complete() == whole.complete());
  }
}

TEST_CASE("long names need bounded memory and stay distinct", "[facts]") {
  NameSample sample;
  const std::string prefix(5000, 'x');
  for (int i = 0; i < 3000; ++i) sample.Add(prefix + std::to_string(i));
  std::size_t bytes = 0;
  for (const std::string& name : sample.names()) bytes += name.size();
  CHECK(bytes < 34000);
  CHECK(sample.names().size() > 100);
  CHECK_FALSE(sample.complete());
  CHECK(static_cast<double>(sample.count()) == Approx(3000).epsilon(0.3));
  CHECK(BoundedName(prefix + "1", 200) != BoundedName(prefix + "2", 200));
  CHECK(BoundedName(prefix, 200).size() <= 200);
  CHECK(BoundedName("short", 200) == "short");
}

TEST_CASE("the first locations are kept, whatever the order and grouping", "[facts]") {
  std::mt19937 random(11);
  std::vector<int> order(2000);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  PlaceSample whole;
  for (const int i : order) whole.Add(Place(i));
  CHECK(whole.all().size() == 100);
  for (int round = 0; round < 5; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    std::vector<PlaceSample> parts(7);
    for (const int i : order) parts[random() % parts.size()].Add(Place(i));
    PlaceSample joined;
    for (const PlaceSample& part : parts) joined.Join(part);
    CHECK(std::equal(joined.all().begin(), joined.all().end(), whole.all().begin(), whole.all().end(),
                     [](const Where& a, const Where& b) { return CompareWhere(a, b) == 0; }));
  }
}

TEST_CASE("long paths need bounded memory, in any order", "[facts]") {
  std::mt19937 random(13);
  std::vector<Where> places;
  for (int i = 0; i < 300; ++i)
    places.push_back(
        {{std::to_string(i) + std::string(random() % 3000, 'p'), ""}, 1, 1, static_cast<std::uint64_t>(i)});
  PlaceSample whole;
  for (const Where& place : places) whole.Add(place);
  CHECK(whole.all().size() < 50);
  for (int round = 0; round < 5; ++round) {
    std::shuffle(places.begin(), places.end(), random);
    PlaceSample one;
    PlaceSample other;
    for (const Where& place : places) (random() % 3 == 0 ? one : other).Add(place);
    one.Join(other);
    REQUIRE(one.all().size() == whole.all().size());
    CHECK(std::equal(one.all().begin(), one.all().end(), whole.all().begin(),
                     [](const Where& a, const Where& b) { return CompareWhere(a, b) == 0; }));
  }
}

TEST_CASE("streams are counted by names, else by artifacts, else by replicas", "[facts]") {
  Tally tally;
  CHECK(tally.occurrences() == 1);
  tally.nameless_artifacts = 1;
  tally.replicas = 8;
  CHECK(tally.occurrences() == 8);
  tally.repeats = 3;
  CHECK(tally.occurrences() == 11);
  Tally other;
  other.nameless_artifacts = 1;
  other.replicas = 8;
  tally.Join(other);  // two logs count as one process each
  CHECK(tally.occurrences() == 5);
  Tally named;
  named.hosts.Add("rank0");
  named.hosts.Add("rank1");
  tally.Join(named);
  CHECK(tally.occurrences() == 7);
  Tally most;
  most.repeats = ~std::uint64_t{0};
  tally.Join(most);  // a hostile report
  CHECK(tally.occurrences() == ~std::uint64_t{0});
}

TEST_CASE("groups are counted by value; of too many values, the last count together", "[facts]") {
  const auto counts = [](int begin, int end) {
    GroupCounts groups;
    for (int i = begin; i < end; ++i) groups.Add("pod", std::to_string(10000 + i), 2);
    groups.Add("team", "a=b", 1);
    return groups;
  };
  GroupCounts whole = counts(0, 1500);
  CHECK(whole.all().at("pod").at("10999") == 2);
  CHECK(whole.all().at("pod").at("(more)") == 1000);
  CHECK(whole.all().at("pod").size() == 1001);
  CHECK(whole.all().at("team") == GroupCounts::Counts{{"a=b", 1}});
  GroupCounts joined = counts(700, 1500);  // in another order
  joined.Join(counts(0, 700));
  CHECK(joined.all().at("team").at("a=b") == 2);
  GroupCounts hostile;  // of a record
  hostile.Restore({{"t\x1b[31m", {{"\x1b]0;x\a", 2}}}});
  REQUIRE(hostile.all().size() == 1);
  CHECK(hostile.all().begin()->first.find('\x1b') == std::string::npos);
  CHECK(hostile.all().begin()->second.begin()->first.find('\x1b') == std::string::npos);
  joined = counts(700, 1500);
  GroupCounts others;
  for (int i = 0; i < 700; ++i) others.Add("pod", std::to_string(10000 + i), 2);
  joined.Join(others);
  CHECK(joined.all() == whole.all());
}

TEST_CASE("a joined tally has the first and last time of both", "[facts]") {
  Tally one;
  one.AddTime(Timestamp{2000, true});
  Tally other;
  other.AddTime(Timestamp{1000, true});
  other.AddTime(std::nullopt);
  other.AddTime(Timestamp{3000, true});
  one.Join(other);
  one.Join(Tally());
  CHECK(one.first_time == Timestamp{1000, true});
  CHECK(one.last_time == Timestamp{3000, true});
}

}  // namespace TEST_FILE
