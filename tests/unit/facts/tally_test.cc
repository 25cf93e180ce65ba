// Tallies use bounded memory. Joining them in any order and grouping gives the same tally.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "catch.h"
#include "facts/failure.h"

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
  CHECK(sample.complete);
  CHECK(sample.count() == 1024);
  CHECK(sample.names().size() == 1024);
  const std::vector<std::string> names = sample.names();
  CHECK(std::is_sorted(names.begin(), names.end()));
}

TEST_CASE("more names are estimated, and the sample is marked incomplete", "[facts]") {
  for (const int count : {1025, 5000, 60000}) {
    const NameSample sample = Sample(0, count);
    CHECK_FALSE(sample.complete);
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
    CHECK(right.complete == whole.complete);
  }
}

TEST_CASE("long names need bounded memory", "[facts]") {
  NameSample sample;
  sample.Add(std::string(5000, 'x'));
  CHECK(sample.names().at(0).size() <= 200);
}

TEST_CASE("the first locations are kept, whatever the order and grouping", "[facts]") {
  std::mt19937 random(11);
  std::vector<int> order(2000);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  Tally whole;
  for (const int i : order) whole.AddPlace(Place(i));
  CHECK(whole.places.size() == 100);
  for (int round = 0; round < 5; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    std::vector<Tally> parts(7);
    for (const int i : order) parts[random() % parts.size()].AddPlace(Place(i));
    Tally joined;
    for (const Tally& part : parts) joined.Join(part);
    CHECK(std::equal(joined.places.begin(), joined.places.end(), whole.places.begin(), whole.places.end(),
                     [](const Where& a, const Where& b) { return (a <=> b) == 0; }));
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
