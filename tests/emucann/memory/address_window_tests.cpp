#include <gtest/gtest.h>

#include <cstring>

#include "memory/address_window.h"

namespace emucann {
namespace {

constexpr std::size_t page = AddressWindow::page;

char* at(void* begin, std::size_t offset) { return static_cast<char*>(begin) + offset; }

TEST(AddressWindow, ReservesPagesUntilItIsFull) {
  AddressWindow window(4 * page);
  void* one = window.reserve(page);
  void* two = window.reserve(1);  // a page, too
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(two, at(one, page));
  EXPECT_TRUE(window.contains(one));
  EXPECT_FALSE(window.contains(&window));
  EXPECT_EQ(window.reserve(3 * page), nullptr);
  EXPECT_EQ(window.reserve(2 * page), at(one, 2 * page));
  EXPECT_EQ(window.reserve(0), nullptr);
}

TEST(AddressWindow, TakesBackOnlyTheBeginOfARange) {
  AddressWindow window(4 * page);
  void* range = window.reserve(2 * page);
  EXPECT_FALSE(window.release(at(range, page)));
  EXPECT_FALSE(window.release(nullptr));
  EXPECT_TRUE(window.release(range));
  EXPECT_FALSE(window.release(range));
}

TEST(AddressWindow, MergesNeighboursThatWereReleased) {
  const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}};
  for (const auto& order : orders) {
    AddressWindow window(3 * page);
    void* ranges[3];
    for (auto& range : ranges) range = window.reserve(page);
    EXPECT_EQ(window.reserve(page), nullptr);
    for (const int which : order) EXPECT_TRUE(window.release(ranges[which]));
    EXPECT_EQ(window.reserve(3 * page), ranges[0]);
  }
}

TEST(AddressWindow, DoesNotMergeOverAHole) {
  AddressWindow window(3 * page);
  void* first = window.reserve(page);
  window.reserve(page);
  void* third = window.reserve(page);
  EXPECT_TRUE(window.release(first));
  EXPECT_TRUE(window.release(third));
  EXPECT_EQ(window.reserve(2 * page), nullptr);
  EXPECT_EQ(window.reserve(page), first);
}

TEST(AddressWindow, SaysWhetherARangeIsReserved) {
  AddressWindow window(4 * page);
  void* range = window.reserve(2 * page);
  EXPECT_TRUE(window.is_reserved(range, 2 * page));
  EXPECT_TRUE(window.is_reserved(at(range, page), page));
  EXPECT_FALSE(window.is_reserved(range, 2 * page + 1));
  EXPECT_FALSE(window.is_reserved(at(range, 2 * page), page));
  EXPECT_FALSE(window.is_reserved(&window, 1));
}

TEST(AddressWindow, CommitsBytesOfZeros) {
  AddressWindow window(2 * page);
  void* range = window.reserve(page);
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(window.commit(range, page));
    auto* bytes = static_cast<unsigned char*>(window.bytes_of(range));
    for (std::size_t i = 0; i < page; ++i) ASSERT_EQ(bytes[i], 0) << "byte " << i << " in round " << round;
    std::memset(bytes, 0xAB, page);
    window.discard(range, page);
  }
}

using AddressWindowDeathTest = ::testing::Test;

TEST(AddressWindowDeathTest, TheHostCanNotTouchADeviceAddress) {
  AddressWindow window(page);
  auto* range = static_cast<volatile char*>(window.reserve(page));
  ASSERT_TRUE(window.commit(const_cast<char*>(range), page));
  *static_cast<char*>(window.bytes_of(const_cast<char*>(range))) = 1;  // behind it, one may
  EXPECT_DEATH({ [[maybe_unused]] const char read = *range; }, "");
  EXPECT_DEATH({ *range = 1; }, "");
}

TEST(AddressWindowDeathTest, BytesThatWereDiscardedAreGone) {
  AddressWindow window(page);
  void* range = window.reserve(page);
  ASSERT_TRUE(window.commit(range, page));
  auto* bytes = static_cast<volatile char*>(window.bytes_of(range));
  *bytes = 1;
  window.discard(range, page);
  EXPECT_DEATH({ *bytes = 1; }, "");
}

}  // namespace
}  // namespace emucann
