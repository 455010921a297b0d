"""Export: the menu, figures by matplotlib, the page for the browser, `augenmerk figure`."""
