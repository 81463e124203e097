// classes.cc - methods, references, namespaces, and classes that are passed by address.
#define CALL __attribute__((noinline))

namespace shop
{
struct Base {
	int kind;
	virtual int price_of(int n) { return n; }
};

struct Item : Base {
	long price;
	enum class Color : unsigned char { Red = 1, Blue = 200 } color;
	bool sold;
};

class Cart
{
	int count = 40;

      public:
	CALL int add(const Item &item, int n)
	{
		count += n;
		return count + (int)item.price;
	}
};

// Not copied byte by byte: the caller passes its address, and that of the result.
struct Owner {
	int value;
	Owner(int v) : value(v) {}
	Owner(const Owner &o) : value(o.value + 1) {}
	~Owner() { value = 0; }
};

struct Holder {
	Owner inner;
};

CALL Owner own(int a, Owner b, int c)
{
	return Owner(a + b.value + c);
}

CALL int hold(Holder h, int k)
{
	return h.inner.value + k;
}
} // namespace shop

template <typename T> CALL T twice(T v, bool yes)
{
	return yes ? v + v : v;
}

int main()
{
	shop::Cart cart;
	shop::Item item;
	item.kind = 3;
	item.price = 99;
	item.color = shop::Item::Color::Blue;
	item.sold = true;
	int sum = cart.add(item, 2);
	shop::Owner o = shop::own(1, shop::Owner(5), 9);
	shop::Holder h = {o};
	sum += o.value + shop::hold(h, 2) + twice(5, true);
	return sum == 12345;
}
